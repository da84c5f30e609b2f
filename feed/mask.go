package feed

import "chaintop/model"

// What is sent to viewers differs from what operators get where a client's
// address is inside (X1): then, and only then, a frame or a picture is encoded
// twice. They are variables so that a test can mask something else.
var (
	maskEvent   = model.Masked
	maskPicture = (*model.Instance).Masked
)
