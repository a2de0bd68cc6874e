# The fast loop is "make test"; "make check" is what a change must pass.

.PHONY: build test check bench dist readme-long clean

build: # the program, without a C compiler
	CGO_ENABLED=0 go build -o mafalda ./cmd/mafalda

test: # while working: formatting, vet, and the quick tests
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l | tee /dev/stderr)"
	go vet ./...
	go test -short ./...

check: # everything
	bash .ci/run

bench: # the paper's problem, and the kernels; compare two runs with benchstat
	go test -run '^$$' -bench . -benchmem ./benchmarks ./internal/gemm

dist: # what is released: programs for all platforms, the wheel, checksums
	.ci/dist dist

readme-long: # every command of README.md, also those that take minutes
	.ci/readme long

clean:
	rm -f mafalda
