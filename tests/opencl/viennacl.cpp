/* SPDX-License-Identifier: MIT */
/*
 * Compares what ViennaCL offers over OpenCL with the processor. Run by tests/opencl/programs when the headers are
 * there.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define VIENNACL_WITH_OPENCL
#include <cmath>
#include <iostream>
#include <map>
#include <vector>
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

static int failed;

static void tell(bool right, const char *name)
{
    std::cout << (right ? "ok " : "not ok ") << name << std::endl;
    failed += !right;
}

template <typename T> static void vectors(const char *name)
{
    const size_t n = 3000;
    std::vector<T> x(n), y(n);
    viennacl::vector<T> vx(n), vy(n);
    double product = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = T(i % 17) / 16;
        y[i] = T(i % 13) / 8;
        product += double(x[i] * y[i]);
    }
    viennacl::copy(x, vx);
    viennacl::copy(y, vy);
    T inner = viennacl::linalg::inner_prod(vx, vy);
    vy = T(2) * vx + vy;
    std::vector<T> back(n);
    viennacl::copy(vy, back);
    bool right = std::abs(double(inner) - product) < 1e-4 * product;
    for (size_t i = 0; i < n; i++) {
        right &= std::abs(back[i] - (2 * x[i] + y[i])) < T(1e-5);
    }
    tell(right, name);
}

template <typename T> static void products(const char *name)
{
    const size_t n = 70, m = 50, k = 90;
    std::vector<std::vector<T>> a(n, std::vector<T>(k)), b(k, std::vector<T>(m)), c(n, std::vector<T>(m));
    viennacl::matrix<T> va(n, k), vb(k, m), vc(n, m);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            a[i][j] = T((i * 7 + j) % 11) / 4;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < m; j++)
            b[i][j] = T((i + j * 5) % 9) / 8;
    viennacl::copy(a, va);
    viennacl::copy(b, vb);
    vc = viennacl::linalg::prod(va, vb);
    viennacl::copy(vc, c);
    bool right = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            T sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += a[i][l] * b[l][j];
            right &= std::abs(sum - c[i][j]) < T(1e-3);
        }
    tell(right, name);
}

static void solver()
{
    const unsigned n = 400;
    std::vector<std::map<unsigned, double>> matrix(n);
    for (unsigned i = 0; i < n; i++) {
        matrix[i][i] = 4;
        if (i > 0)
            matrix[i][i - 1] = -1;
        if (i + 1 < n)
            matrix[i][i + 1] = -1;
    }
    viennacl::compressed_matrix<double> a(n, n);
    viennacl::copy(matrix, a);
    viennacl::vector<double> b = viennacl::scalar_vector<double>(n, 1.0);
    viennacl::vector<double> x = viennacl::linalg::solve(a, b, viennacl::linalg::cg_tag(1e-9, 200));
    viennacl::vector<double> rest = viennacl::linalg::prod(a, x);
    rest -= b;
    tell(viennacl::linalg::norm_2(rest) < 1e-6, "conjugate gradients, sparse matrix");
}

int main()
{
    vectors<float>("vectors of float");
    vectors<double>("vectors of double");
    products<float>("products of float matrices");
    products<double>("products of double matrices");
    solver();
    return failed != 0;
}
