// The C interface of FMI 2.0 (Functional Mock-up Interface, version 2.0.4): types, constants and functions that a functional mock-up
// unit (FMU) exports. Names and meanings are those of the standard; https://fmi-standard.org has the rules for the order of calls.
//
//   fmi2DoStepTYPE       the type of the function fmi2DoStep, for importers that look functions up by name
//   FMI2_NAME(DoStep)    the name of the function: fmi2DoStep, preceded by FMI2_FUNCTION_PREFIX if the program links FMUs statically
//   FMI2_FUNCTIONS(X)    X(name) for each function, for tables of functions
#ifndef OD_FMI2_H
#define OD_FMI2_H

#include <stddef.h>

// ---- types

typedef void *fmi2Component;             // an instance of the FMU
typedef void *fmi2ComponentEnvironment;  // data of the importer, passed to the logger
typedef void *fmi2FMUstate;              // a copy of the state of an instance
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;  // UTF-8, ends with zero
typedef char fmi2Byte;
enum { fmi2False = 0, fmi2True = 1 };

typedef enum {
  fmi2OK,
  fmi2Warning,  // the result is valid; a message describes the problem
  fmi2Discard,  // no result; the importer can repeat the call with other values, such as a shorter step
  fmi2Error,    // the instance can only be reset or freed
  fmi2Fatal,    // no instance of the FMU can be used
  fmi2Pending   // fmi2DoStep returned before the step is complete
} fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

// The importer's functions. message is a format of printf.
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment environment, fmi2String instance_name, fmi2Status status,
                                   fmi2String category, fmi2String message, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t count, size_t size);  // memory filled with zeros, or NULL
typedef void (*fmi2CallbackFreeMemory)(void *memory);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);
typedef struct {
  fmi2CallbackLogger logger;
  fmi2CallbackAllocateMemory allocateMemory;
  fmi2CallbackFreeMemory freeMemory;
  fmi2StepFinished stepFinished;  // NULL: fmi2DoStep has to complete the step before it returns
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

// Results of fmi2NewDiscreteStates().
typedef struct {
  fmi2Boolean newDiscreteStatesNeeded;  // whether another iteration of the event is necessary
  fmi2Boolean terminateSimulation;
  fmi2Boolean nominalsOfContinuousStatesChanged;
  fmi2Boolean valuesOfContinuousStatesChanged;
  fmi2Boolean nextEventTimeDefined;
  fmi2Real nextEventTime;  // s
} fmi2EventInfo;

// ---- types of functions: all kinds of FMUs

typedef const char *fmi2GetTypesPlatformTYPE(void);
typedef const char *fmi2GetVersionTYPE(void);
typedef fmi2Status fmi2SetDebugLoggingTYPE(fmi2Component c, fmi2Boolean on, size_t categories,
                                           const fmi2String category[]);
typedef fmi2Component fmi2InstantiateTYPE(fmi2String instance_name, fmi2Type type, fmi2String guid,
                                          fmi2String resource_location, const fmi2CallbackFunctions *functions,
                                          fmi2Boolean visible, fmi2Boolean logging_on);
typedef void fmi2FreeInstanceTYPE(fmi2Component c);
typedef fmi2Status fmi2SetupExperimentTYPE(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                           fmi2Real start_time, fmi2Boolean has_stop_time, fmi2Real stop_time);
typedef fmi2Status fmi2EnterInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2ExitInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2TerminateTYPE(fmi2Component c);
typedef fmi2Status fmi2ResetTYPE(fmi2Component c);

typedef fmi2Status fmi2GetRealTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[]);
typedef fmi2Status fmi2GetIntegerTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                      fmi2Integer value[]);
typedef fmi2Status fmi2GetBooleanTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                      fmi2Boolean value[]);
typedef fmi2Status fmi2GetStringTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2String value[]);
typedef fmi2Status fmi2SetRealTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                   const fmi2Real value[]);
typedef fmi2Status fmi2SetIntegerTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                      const fmi2Integer value[]);
typedef fmi2Status fmi2SetBooleanTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                      const fmi2Boolean value[]);
typedef fmi2Status fmi2SetStringTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                     const fmi2String value[]);

typedef fmi2Status fmi2GetFMUstateTYPE(fmi2Component c, fmi2FMUstate *state);
typedef fmi2Status fmi2SetFMUstateTYPE(fmi2Component c, fmi2FMUstate state);
typedef fmi2Status fmi2FreeFMUstateTYPE(fmi2Component c, fmi2FMUstate *state);
typedef fmi2Status fmi2SerializedFMUstateSizeTYPE(fmi2Component c, fmi2FMUstate state, size_t *size);
typedef fmi2Status fmi2SerializeFMUstateTYPE(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size);
typedef fmi2Status fmi2DeSerializeFMUstateTYPE(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate *state);
// Multiplies the partial derivatives of the unknowns with respect to the knowns by the changes of the knowns.
typedef fmi2Status fmi2GetDirectionalDerivativeTYPE(fmi2Component c, const fmi2ValueReference unknown[],
                                                    size_t unknowns, const fmi2ValueReference known[], size_t knowns,
                                                    const fmi2Real change_of_known[], fmi2Real change_of_unknown[]);

// ---- types of functions: model exchange

typedef fmi2Status fmi2EnterEventModeTYPE(fmi2Component c);
typedef fmi2Status fmi2NewDiscreteStatesTYPE(fmi2Component c, fmi2EventInfo *info);
typedef fmi2Status fmi2EnterContinuousTimeModeTYPE(fmi2Component c);
typedef fmi2Status fmi2CompletedIntegratorStepTYPE(fmi2Component c, fmi2Boolean no_earlier_state,
                                                   fmi2Boolean *enter_event_mode, fmi2Boolean *terminate);
typedef fmi2Status fmi2SetTimeTYPE(fmi2Component c, fmi2Real time);
typedef fmi2Status fmi2SetContinuousStatesTYPE(fmi2Component c, const fmi2Real x[], size_t states);
typedef fmi2Status fmi2GetDerivativesTYPE(fmi2Component c, fmi2Real derivative[], size_t states);
typedef fmi2Status fmi2GetEventIndicatorsTYPE(fmi2Component c, fmi2Real indicator[], size_t indicators);
typedef fmi2Status fmi2GetContinuousStatesTYPE(fmi2Component c, fmi2Real x[], size_t states);
typedef fmi2Status fmi2GetNominalsOfContinuousStatesTYPE(fmi2Component c, fmi2Real nominal[], size_t states);

// ---- types of functions: co-simulation

typedef fmi2Status fmi2SetRealInputDerivativesTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                                   const fmi2Integer order[], const fmi2Real value[]);
typedef fmi2Status fmi2GetRealOutputDerivativesTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                                    const fmi2Integer order[], fmi2Real value[]);
typedef fmi2Status fmi2DoStepTYPE(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_earlier_state);
typedef fmi2Status fmi2CancelStepTYPE(fmi2Component c);
typedef fmi2Status fmi2GetStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2Status *value);
typedef fmi2Status fmi2GetRealStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2Real *value);
typedef fmi2Status fmi2GetIntegerStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value);
typedef fmi2Status fmi2GetBooleanStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value);
typedef fmi2Status fmi2GetStringStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2String *value);

// ---- functions

#define FMI2_COMMON_FUNCTIONS(X) \
  X(GetTypesPlatform)            \
  X(GetVersion)                  \
  X(SetDebugLogging)             \
  X(Instantiate)                 \
  X(FreeInstance)                \
  X(SetupExperiment)             \
  X(EnterInitializationMode)     \
  X(ExitInitializationMode)      \
  X(Terminate)                   \
  X(Reset)                       \
  X(GetReal)                     \
  X(GetInteger)                  \
  X(GetBoolean)                  \
  X(GetString)                   \
  X(SetReal)                     \
  X(SetInteger)                  \
  X(SetBoolean)                  \
  X(SetString)                   \
  X(GetFMUstate)                 \
  X(SetFMUstate)                 \
  X(FreeFMUstate)                \
  X(SerializedFMUstateSize)      \
  X(SerializeFMUstate)           \
  X(DeSerializeFMUstate)         \
  X(GetDirectionalDerivative)
#define FMI2_MODEL_EXCHANGE_FUNCTIONS(X) \
  X(EnterEventMode)                      \
  X(NewDiscreteStates)                   \
  X(EnterContinuousTimeMode)             \
  X(CompletedIntegratorStep)             \
  X(SetTime)                             \
  X(SetContinuousStates)                 \
  X(GetDerivatives)                      \
  X(GetEventIndicators)                  \
  X(GetContinuousStates)                 \
  X(GetNominalsOfContinuousStates)
#define FMI2_COSIMULATION_FUNCTIONS(X) \
  X(SetRealInputDerivatives)           \
  X(GetRealOutputDerivatives)          \
  X(DoStep)                            \
  X(CancelStep)                        \
  X(GetStatus)                         \
  X(GetRealStatus)                     \
  X(GetIntegerStatus)                  \
  X(GetBooleanStatus)                  \
  X(GetStringStatus)
#define FMI2_FUNCTIONS(X)          \
  FMI2_COMMON_FUNCTIONS(X)         \
  FMI2_MODEL_EXCHANGE_FUNCTIONS(X) \
  FMI2_COSIMULATION_FUNCTIONS(X)

#ifndef FMI2_FUNCTION_PREFIX
#define FMI2_FUNCTION_PREFIX
#endif
#define FMI2_JOIN_EXPANDED(prefix, name) prefix##name
#define FMI2_JOIN(prefix, name)          FMI2_JOIN_EXPANDED(prefix, name)
#define FMI2_NAME(name)                  FMI2_JOIN(FMI2_FUNCTION_PREFIX, fmi2##name)

// Importers that load the functions at run time define FMI2_TYPES_ONLY.
#ifndef FMI2_TYPES_ONLY
#if defined _WIN32
#define FMI2_EXPORTED __declspec(dllexport)
#elif defined __GNUC__
#define FMI2_EXPORTED __attribute__((visibility("default")))
#else
#define FMI2_EXPORTED
#endif
#ifdef __cplusplus
#define FMI2_LINKAGE extern "C"
#else
#define FMI2_LINKAGE
#endif
#define FMI2_DECLARE(name) FMI2_LINKAGE FMI2_EXPORTED fmi2##name##TYPE FMI2_NAME(name);
FMI2_FUNCTIONS(FMI2_DECLARE)
#endif

#endif
