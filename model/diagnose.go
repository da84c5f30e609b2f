package model

import "time"

// Fleet is what a diagnosis is made from: the instances one can see, now.
type Fleet struct {
	Now       time.Time
	Instances []*Instance
}

// Diagnosis says of one chain what an engineer asks first (S1).
type Diagnosis struct {
	Instance, Chain int // indexes

	Why   Sentence // the evidence
	Whose Sentence // the fault
	Felt  Sentence // by clients, routing, readiness
	Next  Sentence // what is due, and why then
	Do    Sentence // what helps, with its key
}

// Sentence is one of the closed set, filled in: Long for a line of 112 cells,
// Short for one of 73.
type Sentence struct {
	ID          string // stable name of the sentence
	Long, Short string
}

// Diagnose says it of every chain of every instance.
func Diagnose(f Fleet) []Diagnosis {
	var all []Diagnosis
	for i, inst := range f.Instances {
		for c := range inst.Chains {
			all = append(all, f.Chain(i, c))
		}
	}
	return all
}

// Chain says it of one chain.
func (f Fleet) Chain(instance, chain int) Diagnosis {
	return Diagnosis{Instance: instance, Chain: chain}
}
