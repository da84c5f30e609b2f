// Package probe asks an upstream how it is: one try is the question for the head
// and the fact questions then due, and ends in one model.Outcome. It knows
// protocols and values; what an outcome means for a health is model's.
//
// Law: a try owns its context, its requests and the places their answers go to;
// nothing that comes late is read by another try (SPEC T2). The outcome is that
// of the head question; the others bring facts and findings and never change it
// (SPEC V1). An error says that there is no outcome: the try was cancelled, or
// could not be made (SPEC U7, U8).
package probe
