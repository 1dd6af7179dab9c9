// Command executor runs the service executor.
package main

import (
	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/services/executor"
)

func main() { lifecycle.Main(executor.Program()) }
