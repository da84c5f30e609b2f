// Package termtest is a terminal to look into: it runs a program on a
// pseudo-terminal, shows what the program drew, types keys, and says in which
// state the terminal was left.
//
// Law: what the program writes reaches the screen in order; the screen is read
// whole, never half a write. The terminal answers the questions programs ask of
// it. After Close nothing runs any more, and the program neither.
//
// Not promised: Windows, images, and sequences the emulator does not know.
package termtest
