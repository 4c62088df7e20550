#include "jobs/job.h"

int od_kind_simulate(od_job *job), od_kind_equilibrium(od_job *job), od_kind_linearize(od_job *job),
    od_kind_bode(od_job *job), od_kind_rga(od_job *job), od_kind_inverse(od_job *job), od_kind_optimize(od_job *job),
    od_kind_signals(od_job *job), od_kind_observe(od_job *job), od_kind_fit(od_job *job), od_kind_frf(od_job *job),
    od_kind_tf(od_job *job), od_kind_compare(od_job *job), od_kind_study(od_job *job), od_kind_check(od_job *job),
    od_kind_info(od_job *job), od_kind_components(od_job *job), od_kind_schema(od_job *job),
    od_kind_friction(od_job *job), od_kind_friction_fit(od_job *job), od_kind_compile(od_job *job);

const od_job_kind od_job_kinds[] = {
    {"simulate", "run a machine over time; results as table, CSV, MAT, JSON or plot", od_kind_simulate},
    {"equilibrium", "find inputs, positions and pressures of an equilibrium or of steady motion", od_kind_equilibrium},
    {"linearize", "linear model at an operating point: A, B, C, D, poles, zeros and modes", od_kind_linearize},
    {"bode", "frequency responses: plot, table, margins and bandwidth", od_kind_bode},
    {"rga", "relative gains over frequency, and the suggested pairing of inputs and outputs", od_kind_rga},
    {"inverse", "forces, pressures and flows for a prescribed motion", od_kind_inverse},
    {"optimize", "find numbers with which a machine meets its requirements", od_kind_optimize},
    {"signals", "show the inputs of a machine over time, without a simulation", od_kind_signals},
    {"observe", "estimate states and parameters of a machine in operation", od_kind_observe},
    {"fit", "fit parameters of a machine to logs, and report which parameters are identifiable", od_kind_fit},
    {"frf", "frequency response, computed for a machine or estimated from a log", od_kind_frf},
    {"tf", "fit transfer functions to a frequency response", od_kind_tf},
    {"compare", "compare filters, sets of sensors and steps on the same data", od_kind_compare},
    {"study", "run experiments many times with different random numbers, on all cores", od_kind_study},
    {"check", "check files and list all errors", od_kind_check},
    {"info", "list elements, degrees of freedom, inputs, outputs and numbers of a machine", od_kind_info},
    {"compile", "write a machine as an image that programs, controllers and all commands can use", od_kind_compile},
    {"components", "list the components that machine files can use, or show their keys", od_kind_components},
    {"schema", "print the JSON schema of a kind of file, for editors", od_kind_schema},
    {"friction", "show a friction law: steady curve, loop, step, sensitivities", od_kind_friction},
    {"friction-fit", "fit a friction law to points of steady motion or to one run", od_kind_friction_fit},
    {NULL, NULL, NULL},
};
