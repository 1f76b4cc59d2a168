#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs functions of OpenCV on a PPU, by its transparent use of OpenCL, and compares with what it computes itself."""

import os
import sys

os.environ["OPENCV_OPENCL_RAISE_ERROR"] = "1"  # else it computes itself what a device cannot
import cv2  # noqa: E402
import numpy  # noqa: E402

SIDE = 240
# name: the function, and what a value may differ by; fractions are of the largest one
FUNCTIONS = {
    "GaussianBlur": (lambda image: cv2.GaussianBlur(image, (7, 7), 1.5), 1),
    "boxFilter": (lambda image: cv2.boxFilter(image, -1, (5, 5)), 1),
    "medianBlur": (lambda image: cv2.medianBlur(image, 5), 0),
    "bilateralFilter": (lambda image: cv2.bilateralFilter(image, 5, 40, 3), 1),
    "filter2D": (lambda image: cv2.filter2D(image, -1, numpy.float32([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])), 1),
    "Laplacian": (lambda image: cv2.Laplacian(image, cv2.CV_16S, ksize=3), 1),
    "Sobel": (lambda image: cv2.Sobel(image, cv2.CV_16S, 1, 0), 0),
    "erode": (lambda image: cv2.erode(image, numpy.ones((3, 3), numpy.uint8)), 0),
    "dilate": (lambda image: cv2.dilate(image, numpy.ones((5, 5), numpy.uint8)), 0),
    "resize, linear": (lambda image: cv2.resize(image, (317, 179), interpolation=cv2.INTER_LINEAR), 1),
    "resize, area": (lambda image: cv2.resize(image, (100, 77), interpolation=cv2.INTER_AREA), 1),
    "pyrDown": (cv2.pyrDown, 1),
    "pyrUp": (cv2.pyrUp, 1),
    "flip": (lambda image: cv2.flip(image, 1), 0),
    "transpose": (cv2.transpose, 0),
    "threshold": (lambda image: cv2.threshold(image, 100, 255, cv2.THRESH_BINARY)[1], 0),
    "warpAffine": (lambda image: cv2.warpAffine(image, numpy.float32([[0.9, 0.1, 3], [-0.1, 0.9, 20]]), (SIDE, SIDE)), 4),
    "cvtColor": (lambda image: cv2.cvtColor(image, cv2.COLOR_BGR2YCrCb), 1),
    "cvtColor, gray": (lambda image: cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), 1),
    "equalizeHist": (lambda image: cv2.equalizeHist(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)), 1),
    "add": (lambda image: cv2.add(image, image), 0),
    "multiply": (lambda image: cv2.multiply(image, image, scale=0.01), 1),
    "integral": (lambda image: cv2.integral(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)), 0),
}
MATRICES = {
    "gemm": (lambda a: cv2.gemm(a, a, 0.5, None, 0), 1e-4),
    "dft": (lambda a: cv2.dft(a, flags=cv2.DFT_COMPLEX_OUTPUT), 1e-4),
    "sqrt": (lambda a: cv2.sqrt(cv2.absdiff(a, 0.25)), 1e-4),
    "exp": (cv2.exp, 1e-4),
    "normalize": (lambda a: cv2.normalize(a, None, 0, 1, cv2.NORM_MINMAX), 1e-4),
    "matchTemplate": (lambda a: cv2.matchTemplate(a, cv2.resize(a, (16, 16)), cv2.TM_CCORR), 1e-4),
}


def difference(function, value):
    """The largest difference, and the largest value."""
    cv2.ocl.setUseOpenCL(False)
    wanted = numpy.asarray(function(value), dtype=numpy.float64)
    cv2.ocl.setUseOpenCL(True)
    got = function(cv2.UMat(value)).get().astype(numpy.float64)
    return numpy.abs(got - wanted).max(), numpy.abs(wanted).max()


def main():
    name = cv2.ocl_Device.getDefault().name() if cv2.ocl.haveOpenCL() else "none"
    if name != "PPU":
        print(f"the OpenCL device of OpenCV is {name}")
        return 1
    drawn = numpy.random.default_rng(5)
    image = cv2.GaussianBlur(drawn.integers(0, 256, (SIDE, SIDE, 3), dtype=numpy.uint8), (3, 3), 1)
    matrix = drawn.random((128, 128), dtype=numpy.float32)
    failed = 0
    for functions, value in ((FUNCTIONS, image), (MATRICES, matrix)):
        for what, (function, most) in functions.items():
            apart, largest = difference(function, value)
            good = apart <= (most if most >= 1 or most == 0 else most * largest)
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {what}: {apart:g} of {largest:g}", flush=True)
    print(f"OpenCV {cv2.__version__}: {failed} test(s) failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
