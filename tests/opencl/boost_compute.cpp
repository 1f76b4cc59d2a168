/* SPDX-License-Identifier: MIT */
/*
 * Compares what Boost.Compute offers with the standard library. Run by tests/opencl/programs when the headers are
 * there.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <algorithm>
#include <boost/compute.hpp>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

namespace compute = boost::compute;

static int failed;

static void tell(bool right, const char *name)
{
    std::cout << (right ? "ok " : "not ok ") << name << std::endl;
    failed += !right;
}

int main()
{
    compute::device device = compute::system::default_device();
    compute::context context(device);
    compute::command_queue queue(context, device);
    std::mt19937 random(1);
    std::vector<int> host(30000);
    for (int &value : host) {
        value = int(random() % 100000);
    }
    compute::vector<int> there(host.begin(), host.end(), queue), sums(host.size(), context);
    std::vector<int> back(host.size()), wanted(host.size());

    tell(compute::accumulate(there.begin(), there.end(), 0, queue) == std::accumulate(host.begin(), host.end(), 0),
         "accumulate");
    int sum = 0;
    compute::reduce(there.begin(), there.end(), &sum, queue);
    tell(sum == std::accumulate(host.begin(), host.end(), 0), "reduce");
    compute::inclusive_scan(there.begin(), there.end(), sums.begin(), queue);
    compute::copy(sums.begin(), sums.end(), back.begin(), queue);
    std::partial_sum(host.begin(), host.end(), wanted.begin());
    tell(back == wanted, "inclusive_scan");
    auto highest = compute::max_element(there.begin(), there.end(), queue);
    tell(highest.get_index() == size_t(std::max_element(host.begin(), host.end()) - host.begin()), "max_element");
    tell(compute::count_if(there.begin(), there.end(), compute::lambda::_1 > 500, queue) ==
             size_t(std::count_if(host.begin(), host.end(), [](int v) { return v > 500; })),
         "count_if");
    using compute::lambda::_1;
    compute::transform(there.begin(), there.end(), sums.begin(), _1 * 3 + 1, queue);
    compute::copy(sums.begin(), sums.end(), back.begin(), queue);
    std::transform(host.begin(), host.end(), wanted.begin(), [](int v) { return v * 3 + 1; });
    tell(back == wanted, "transform");
    auto end = compute::copy_if(there.begin(), there.end(), sums.begin(), _1 % 2 == 0, queue);
    wanted.clear();
    std::copy_if(host.begin(), host.end(), std::back_inserter(wanted), [](int v) { return v % 2 == 0; });
    back.resize(wanted.size());
    bool size = size_t(end - sums.begin()) == wanted.size();
    compute::copy(sums.begin(), end, back.begin(), queue);
    tell(size && back == wanted, "copy_if");
    compute::sort(there.begin(), there.end(), queue);
    back.resize(host.size());
    compute::copy(there.begin(), there.end(), back.begin(), queue);
    std::sort(host.begin(), host.end());
    tell(back == host, "sort");
    tell(compute::binary_search(there.begin(), there.end(), host[77], queue), "binary_search");
    compute::vector<float> keys(5000, context);
    compute::default_random_engine engine(queue);
    compute::uniform_real_distribution<float> distribution(0.0f, 1.0f);
    distribution.generate(keys.begin(), keys.end(), engine, queue);
    std::vector<float> numbers(5000);
    compute::sort(keys.begin(), keys.end(), compute::greater<float>(), queue);
    compute::copy(keys.begin(), keys.end(), numbers.begin(), queue);
    tell(std::is_sorted(numbers.begin(), numbers.end(), std::greater<float>()), "random, sort downwards");
    end = compute::unique(there.begin(), there.end(), queue);
    tell(end - there.begin() == std::unique(host.begin(), host.end()) - host.begin(), "unique");
    return failed != 0;
}
