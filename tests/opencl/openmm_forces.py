#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares forces of a box of water by OpenMM's OpenCL platform with its reference. Run by tests/opencl/programs."""

import sys

import numpy as np
import openmm

SIDE, DISTANCE = 6, 0.31
ATOMS = ((16, -0.8, 0.316, 0.65, (0, 0, 0)), (1, 0.4, 0.1, 0, (0.1, 0, 0)), (1, 0.4, 0.1, 0, (-0.033, 0.094, 0)))


def water():
    system, forces, bonds = openmm.System(), openmm.NonbondedForce(), openmm.HarmonicBondForce()
    forces.setNonbondedMethod(openmm.NonbondedForce.PME)
    forces.setCutoffDistance(0.9)
    edge, places = SIDE * DISTANCE, []
    system.setDefaultPeriodicBoxVectors((edge, 0, 0), (0, edge, 0), (0, 0, edge))
    for corner in np.ndindex(SIDE, SIDE, SIDE):
        first = system.getNumParticles()
        for mass, charge, sigma, epsilon, offset in ATOMS:
            system.addParticle(mass)
            forces.addParticle(charge, sigma, epsilon)
            places.append(np.array(corner) * DISTANCE + offset)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            bonds.addBond(first + a, first + b, 0.1, 400000)
            forces.addException(first + a, first + b, 0, 0.1, 0)
    system.addForce(forces)
    system.addForce(bonds)
    return system, places


def forces_on(platform, system, places):
    context = openmm.Context(system, openmm.VerletIntegrator(0.0005), openmm.Platform.getPlatformByName(platform))
    context.setPositions(places)
    return np.array(context.getState(getForces=True).getForces(asNumpy=True)._value)


def main():
    wanted, found = (forces_on(platform, *water()) for platform in ("Reference", "OpenCL"))
    error = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    print(f"forces differ by {error:.1e}")
    return int(not error < 1e-4)


sys.exit(main())
