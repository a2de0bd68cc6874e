package accounting

import "mafalda/accounting/internal/parameter"

// ErrParameter is wrapped by every error about a number that cannot be a privacy parameter.
var ErrParameter = parameter.Err
