// Command zegate runs the whole product in one process: edge, executor and task runner, which talk gRPC over memory.
package main

import "github.com/zegate/zegate/pkg/lifecycle"

func main() { lifecycle.Main(program()) }
