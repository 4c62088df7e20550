// The C interface of FMI 3.0 (Functional Mock-up Interface, version 3.0.2): types, constants and functions that a functional mock-up
// unit (FMU) exports. Names and meanings are those of the standard; https://fmi-standard.org has the rules for the order of calls.
//
//   fmi3DoStepTYPE       the type of the function fmi3DoStep, for importers that look functions up by name
//   FMI3_NAME(DoStep)    the name of the function: fmi3DoStep, preceded by FMI3_FUNCTION_PREFIX if the program links FMUs statically
//   FMI3_FUNCTIONS(X)    X(name) for each function, for tables of functions
#ifndef OD_FMI3_H
#define OD_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- types

typedef void *fmi3Instance;             // an instance of the FMU
typedef void *fmi3InstanceEnvironment;  // data of the importer, passed to its functions
typedef void *fmi3FMUState;             // a copy of the state of an instance
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;  // UTF-8, ends with zero
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
enum { fmi3False = 0, fmi3True = 1, fmi3ClockInactive = 0, fmi3ClockActive = 1 };

typedef enum {
  fmi3OK,
  fmi3Warning,  // the result is valid; a message describes the problem
  fmi3Discard,  // no result; the importer can repeat the call with other values, such as a shorter step
  fmi3Error,    // the instance can only be reset or freed
  fmi3Fatal     // no instance of the FMU can be used
} fmi3Status;
typedef enum {
  fmi3Independent,
  fmi3Constant,  // the partial derivative is a constant
  fmi3Fixed,     // the derivative is constant after initialization
  fmi3Tunable,   // the derivative changes only at events for tunable parameters
  fmi3Discrete,  // the derivative changes only at events
  fmi3Dependent
} fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

// The importer's functions.
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                               fmi3Boolean set_requested, fmi3Boolean get_allowed,
                                               fmi3Boolean step_finished, fmi3Boolean can_return_early,
                                               fmi3Boolean *return_requested, fmi3Float64 *return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

// ---- types of functions: creation and modes

typedef const char *fmi3GetVersionTYPE(void);
typedef fmi3Status fmi3SetDebugLoggingTYPE(fmi3Instance i, fmi3Boolean on, size_t categories,
                                           const fmi3String category[]);
typedef fmi3Instance fmi3InstantiateModelExchangeTYPE(fmi3String instance_name, fmi3String token,
                                                      fmi3String resource_path, fmi3Boolean visible,
                                                      fmi3Boolean logging_on, fmi3InstanceEnvironment environment,
                                                      fmi3LogMessageCallback log_message);
typedef fmi3Instance fmi3InstantiateCoSimulationTYPE(
    fmi3String instance_name, fmi3String token, fmi3String resource_path, fmi3Boolean visible, fmi3Boolean logging_on,
    fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed, const fmi3ValueReference intermediate_variable[],
    size_t intermediate_variables, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
    fmi3IntermediateUpdateCallback intermediate_update);
typedef fmi3Instance fmi3InstantiateScheduledExecutionTYPE(
    fmi3String instance_name, fmi3String token, fmi3String resource_path, fmi3Boolean visible, fmi3Boolean logging_on,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message, fmi3ClockUpdateCallback clock_update,
    fmi3LockPreemptionCallback lock_preemption, fmi3UnlockPreemptionCallback unlock_preemption);
typedef void fmi3FreeInstanceTYPE(fmi3Instance i);
typedef fmi3Status fmi3EnterInitializationModeTYPE(fmi3Instance i, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                                   fmi3Float64 start_time, fmi3Boolean has_stop_time,
                                                   fmi3Float64 stop_time);
typedef fmi3Status fmi3ExitInitializationModeTYPE(fmi3Instance i);
typedef fmi3Status fmi3EnterEventModeTYPE(fmi3Instance i);
typedef fmi3Status fmi3TerminateTYPE(fmi3Instance i);
typedef fmi3Status fmi3ResetTYPE(fmi3Instance i);
typedef fmi3Status fmi3EnterConfigurationModeTYPE(fmi3Instance i);
typedef fmi3Status fmi3ExitConfigurationModeTYPE(fmi3Instance i);

// ---- types of functions: values. `values` is the sum of the sizes of the variables.

#define FMI3_VALUE_TYPES(type)                                                                        \
  typedef fmi3Status fmi3Get##type##TYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count, \
                                         fmi3##type value[], size_t values);                          \
  typedef fmi3Status fmi3Set##type##TYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count, \
                                         const fmi3##type value[], size_t values);
FMI3_VALUE_TYPES(Float32)
FMI3_VALUE_TYPES(Float64)
FMI3_VALUE_TYPES(Int8)
FMI3_VALUE_TYPES(UInt8)
FMI3_VALUE_TYPES(Int16)
FMI3_VALUE_TYPES(UInt16)
FMI3_VALUE_TYPES(Int32)
FMI3_VALUE_TYPES(UInt32)
FMI3_VALUE_TYPES(Int64)
FMI3_VALUE_TYPES(UInt64)
FMI3_VALUE_TYPES(Boolean)
FMI3_VALUE_TYPES(String)
typedef fmi3Status fmi3GetBinaryTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count, size_t size[],
                                     fmi3Binary value[], size_t values);
typedef fmi3Status fmi3SetBinaryTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count, const size_t size[],
                                     const fmi3Binary value[], size_t values);
typedef fmi3Status fmi3GetClockTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count, fmi3Clock value[]);
typedef fmi3Status fmi3SetClockTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                    const fmi3Clock value[]);

// ---- types of functions: dependencies, states and derivatives

typedef fmi3Status fmi3GetNumberOfVariableDependenciesTYPE(fmi3Instance i, fmi3ValueReference vr, size_t *count);
typedef fmi3Status fmi3GetVariableDependenciesTYPE(fmi3Instance i, fmi3ValueReference dependent,
                                                   size_t element_of_dependent[], fmi3ValueReference independent[],
                                                   size_t element_of_independent[], fmi3DependencyKind kind[],
                                                   size_t count);
typedef fmi3Status fmi3GetFMUStateTYPE(fmi3Instance i, fmi3FMUState *state);
typedef fmi3Status fmi3SetFMUStateTYPE(fmi3Instance i, fmi3FMUState state);
typedef fmi3Status fmi3FreeFMUStateTYPE(fmi3Instance i, fmi3FMUState *state);
typedef fmi3Status fmi3SerializedFMUStateSizeTYPE(fmi3Instance i, fmi3FMUState state, size_t *size);
typedef fmi3Status fmi3SerializeFMUStateTYPE(fmi3Instance i, fmi3FMUState state, fmi3Byte bytes[], size_t size);
typedef fmi3Status fmi3DeserializeFMUStateTYPE(fmi3Instance i, const fmi3Byte bytes[], size_t size,
                                               fmi3FMUState *state);
// Multiplies the partial derivatives of the unknowns with respect to the knowns by changes of the knowns.
typedef fmi3Status fmi3GetDirectionalDerivativeTYPE(fmi3Instance i, const fmi3ValueReference unknown[], size_t unknowns,
                                                    const fmi3ValueReference known[], size_t knowns,
                                                    const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                                    size_t sensitivities);
// Multiplies the transposed partial derivatives by weights of the unknowns.
typedef fmi3Status fmi3GetAdjointDerivativeTYPE(fmi3Instance i, const fmi3ValueReference unknown[], size_t unknowns,
                                                const fmi3ValueReference known[], size_t knowns,
                                                const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[],
                                                size_t sensitivities);

// ---- types of functions: clocks and events

typedef fmi3Status fmi3GetIntervalDecimalTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                              fmi3Float64 interval[], fmi3IntervalQualifier qualifier[]);
typedef fmi3Status fmi3GetIntervalFractionTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                               fmi3UInt64 counter[], fmi3UInt64 resolution[],
                                               fmi3IntervalQualifier qualifier[]);
typedef fmi3Status fmi3GetShiftDecimalTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                           fmi3Float64 shift[]);
typedef fmi3Status fmi3GetShiftFractionTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                            fmi3UInt64 counter[], fmi3UInt64 resolution[]);
typedef fmi3Status fmi3SetIntervalDecimalTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                              const fmi3Float64 interval[]);
typedef fmi3Status fmi3SetIntervalFractionTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                               const fmi3UInt64 counter[], const fmi3UInt64 resolution[]);
typedef fmi3Status fmi3SetShiftDecimalTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                           const fmi3Float64 shift[]);
typedef fmi3Status fmi3SetShiftFractionTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                            const fmi3UInt64 counter[], const fmi3UInt64 resolution[]);
typedef fmi3Status fmi3EvaluateDiscreteStatesTYPE(fmi3Instance i);
typedef fmi3Status fmi3UpdateDiscreteStatesTYPE(fmi3Instance i, fmi3Boolean *needs_update, fmi3Boolean *terminate,
                                                fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                                fmi3Boolean *has_next_event, fmi3Float64 *next_event);

// ---- types of functions: model exchange

typedef fmi3Status fmi3EnterContinuousTimeModeTYPE(fmi3Instance i);
typedef fmi3Status fmi3CompletedIntegratorStepTYPE(fmi3Instance i, fmi3Boolean no_earlier_state,
                                                   fmi3Boolean *enter_event_mode, fmi3Boolean *terminate);
typedef fmi3Status fmi3SetTimeTYPE(fmi3Instance i, fmi3Float64 time);
typedef fmi3Status fmi3SetContinuousStatesTYPE(fmi3Instance i, const fmi3Float64 x[], size_t states);
typedef fmi3Status fmi3GetContinuousStateDerivativesTYPE(fmi3Instance i, fmi3Float64 derivative[], size_t states);
typedef fmi3Status fmi3GetEventIndicatorsTYPE(fmi3Instance i, fmi3Float64 indicator[], size_t indicators);
typedef fmi3Status fmi3GetContinuousStatesTYPE(fmi3Instance i, fmi3Float64 x[], size_t states);
typedef fmi3Status fmi3GetNominalsOfContinuousStatesTYPE(fmi3Instance i, fmi3Float64 nominal[], size_t states);
typedef fmi3Status fmi3GetNumberOfEventIndicatorsTYPE(fmi3Instance i, size_t *count);
typedef fmi3Status fmi3GetNumberOfContinuousStatesTYPE(fmi3Instance i, size_t *count);

// ---- types of functions: co-simulation and scheduled execution

typedef fmi3Status fmi3EnterStepModeTYPE(fmi3Instance i);
typedef fmi3Status fmi3GetOutputDerivativesTYPE(fmi3Instance i, const fmi3ValueReference vr[], size_t count,
                                                const fmi3Int32 order[], fmi3Float64 value[], size_t values);
typedef fmi3Status fmi3DoStepTYPE(fmi3Instance i, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_earlier_state,
                                  fmi3Boolean *event_handling_needed, fmi3Boolean *terminate,
                                  fmi3Boolean *returned_early, fmi3Float64 *last_successful_time);
typedef fmi3Status fmi3ActivateModelPartitionTYPE(fmi3Instance i, fmi3ValueReference clock, fmi3Float64 time);

// ---- functions

#define FMI3_COMMON_FUNCTIONS(X)     \
  X(GetVersion)                      \
  X(SetDebugLogging)                 \
  X(InstantiateModelExchange)        \
  X(InstantiateCoSimulation)         \
  X(InstantiateScheduledExecution)   \
  X(FreeInstance)                    \
  X(EnterInitializationMode)         \
  X(ExitInitializationMode)          \
  X(EnterEventMode)                  \
  X(Terminate)                       \
  X(Reset)                           \
  X(EnterConfigurationMode)          \
  X(ExitConfigurationMode)           \
  X(GetFloat32)                      \
  X(GetFloat64)                      \
  X(GetInt8)                         \
  X(GetUInt8)                        \
  X(GetInt16)                        \
  X(GetUInt16)                       \
  X(GetInt32)                        \
  X(GetUInt32)                       \
  X(GetInt64)                        \
  X(GetUInt64)                       \
  X(GetBoolean)                      \
  X(GetString)                       \
  X(GetBinary)                       \
  X(GetClock)                        \
  X(SetFloat32)                      \
  X(SetFloat64)                      \
  X(SetInt8)                         \
  X(SetUInt8)                        \
  X(SetInt16)                        \
  X(SetUInt16)                       \
  X(SetInt32)                        \
  X(SetUInt32)                       \
  X(SetInt64)                        \
  X(SetUInt64)                       \
  X(SetBoolean)                      \
  X(SetString)                       \
  X(SetBinary)                       \
  X(SetClock)                        \
  X(GetNumberOfVariableDependencies) \
  X(GetVariableDependencies)         \
  X(GetFMUState)                     \
  X(SetFMUState)                     \
  X(FreeFMUState)                    \
  X(SerializedFMUStateSize)          \
  X(SerializeFMUState)               \
  X(DeserializeFMUState)             \
  X(GetDirectionalDerivative)        \
  X(GetAdjointDerivative)            \
  X(GetIntervalDecimal)              \
  X(GetIntervalFraction)             \
  X(GetShiftDecimal)                 \
  X(GetShiftFraction)                \
  X(SetIntervalDecimal)              \
  X(SetIntervalFraction)             \
  X(SetShiftDecimal)                 \
  X(SetShiftFraction)                \
  X(EvaluateDiscreteStates)          \
  X(UpdateDiscreteStates)
#define FMI3_MODEL_EXCHANGE_FUNCTIONS(X) \
  X(EnterContinuousTimeMode)             \
  X(CompletedIntegratorStep)             \
  X(SetTime)                             \
  X(SetContinuousStates)                 \
  X(GetContinuousStateDerivatives)       \
  X(GetEventIndicators)                  \
  X(GetContinuousStates)                 \
  X(GetNominalsOfContinuousStates)       \
  X(GetNumberOfEventIndicators)          \
  X(GetNumberOfContinuousStates)
#define FMI3_COSIMULATION_FUNCTIONS(X) \
  X(EnterStepMode)                     \
  X(GetOutputDerivatives)              \
  X(DoStep)                            \
  X(ActivateModelPartition)
#define FMI3_FUNCTIONS(X)          \
  FMI3_COMMON_FUNCTIONS(X)         \
  FMI3_MODEL_EXCHANGE_FUNCTIONS(X) \
  FMI3_COSIMULATION_FUNCTIONS(X)

#ifndef FMI3_FUNCTION_PREFIX
#define FMI3_FUNCTION_PREFIX
#endif
#define FMI3_JOIN_EXPANDED(prefix, name) prefix##name
#define FMI3_JOIN(prefix, name)          FMI3_JOIN_EXPANDED(prefix, name)
#define FMI3_NAME(name)                  FMI3_JOIN(FMI3_FUNCTION_PREFIX, fmi3##name)

// Importers that load the functions at run time define FMI3_TYPES_ONLY.
#ifndef FMI3_TYPES_ONLY
#if defined _WIN32
#define FMI3_EXPORTED __declspec(dllexport)
#elif defined __GNUC__
#define FMI3_EXPORTED __attribute__((visibility("default")))
#else
#define FMI3_EXPORTED
#endif
#ifdef __cplusplus
#define FMI3_LINKAGE extern "C"
#else
#define FMI3_LINKAGE
#endif
#define FMI3_DECLARE(name) FMI3_LINKAGE FMI3_EXPORTED fmi3##name##TYPE FMI3_NAME(name);
FMI3_FUNCTIONS(FMI3_DECLARE)
#endif

#endif
