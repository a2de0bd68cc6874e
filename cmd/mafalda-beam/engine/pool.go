package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// OfPool is in the environment of workers that end with their standard input.
const OfPool = "MAFALDA_BEAM_POOL"

// Pool starts a worker, as a process of its own, whenever a runner asks for one: Beam's EXTERNAL environment.
type Pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	program string    // path of a program that knows --worker
	says    io.Writer // what workers say

	mu      sync.Mutex
	workers map[string]context.CancelFunc // what ends each worker, by its name
	running sync.WaitGroup
}

// Serve has runners find a pool of this program at a listener until ctx ends, and its workers with it.
func Serve(ctx context.Context, l net.Listener, says io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	p := &Pool{program: program, says: says, workers: map[string]context.CancelFunc{}}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	defer context.AfterFunc(ctx, server.Stop)()
	err = server.Serve(l)
	p.mu.Lock()
	for _, stop := range p.workers {
		stop()
	}
	p.mu.Unlock()
	p.running.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// StartWorker starts one for a runner.
func (p *Pool) StartWorker(ctx context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := r.GetWorkerId()
	if p.workers[name] != nil {
		return &fnpb.StartWorkerResponse{Error: fmt.Sprintf("there is a worker %q already", name)}, nil
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(life, p.program, "--worker", "--id="+name,
		"--logging_endpoint="+r.GetLoggingEndpoint().GetUrl(), "--control_endpoint="+r.GetControlEndpoint().GetUrl())
	cmd.Env = append(os.Environ(), OfPool+"=1", "RUNNER_CAPABILITIES="+capabilities(ctx, r))
	cmd.Stdout, cmd.Stderr = p.says, p.says
	stdin, err := cmd.StdinPipe() // ends with this process
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	p.workers[name] = stop
	p.running.Go(func() {
		err := cmd.Wait()
		if life.Err() == nil {
			fmt.Fprintf(p.says, "worker %s has ended: %v\n", name, err)
		}
		_ = stdin.Close()
		stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.workers, name)
	})
	return &fnpb.StartWorkerResponse{}, nil
}

// capabilities asks the runner for those it has.
func capabilities(ctx context.Context, r *fnpb.StartWorkerRequest) string {
	url := r.GetProvisionEndpoint().GetUrl()
	if url == "" {
		return ""
	}
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, r.GetWorkerId()), url)
	if err != nil {
		return "" // it works without
	}
	return strings.Join(info.GetRunnerCapabilities(), " ")
}

// StopWorker ends one.
func (p *Pool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stop := p.workers[r.GetWorkerId()]
	if stop == nil {
		return &fnpb.StopWorkerResponse{Error: "there is no such worker"}, nil
	}
	stop()
	return &fnpb.StopWorkerResponse{}, nil
}
