// Says what KubeVirt's own code writes on the pod of a virtual machine, and what it reads there: JSON in, JSON out.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	k8scorev1 "k8s.io/api/core/v1"
	v1 "kubevirt.io/api/core/v1"

	"kubevirt.io/kubevirt/pkg/network/controllers"
	"kubevirt.io/kubevirt/pkg/network/pod/annotations"
)

// An installation as it comes: no binding plugins, and old names of interfaces are kept.
type plainCluster struct{}

func (plainCluster) GetNetworkBindings() map[string]v1.InterfaceBindingPlugin { return nil }
func (plainCluster) PodSecondaryInterfaceNamingUpgradeEnabled() bool          { return false }

type asked struct {
	Machine v1.VirtualMachineInstance `json:"machine"`
	// The machine's pod; none when the pod is yet to be made.
	Pod *k8scorev1.Pod `json:"pod"`
}

type told struct {
	// For a new pod.
	Annotations map[string]string `json:"annotations,omitempty"`
	// The status of the machine, after a look at its pod.
	Interfaces []v1.VirtualMachineInstanceNetworkInterface `json:"interfaces,omitempty"`
	// What would be changed on the pod after that.
	Changes map[string]string `json:"changes,omitempty"`
	// For the pod to which the machine migrates, beyond those of a new pod.
	Target map[string]string `json:"target,omitempty"`
}

func answer(question asked) (told, error) {
	generator := annotations.NewGenerator(plainCluster{})
	if question.Pod == nil {
		made, err := generator.Generate(&question.Machine)
		return told{Annotations: made}, err
	}
	if err := controllers.UpdateVMIStatus(&question.Machine, question.Pod); err != nil {
		return told{}, err
	}
	target, err := generator.GenerateFromSource(&question.Machine, question.Pod)
	return told{
		Interfaces: question.Machine.Status.Interfaces,
		Changes:    generator.GenerateFromActivePod(&question.Machine, question.Pod),
		Target:     target,
	}, err
}

func main() {
	var question asked
	if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
		fail(err)
	}
	words, err := answer(question)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(words); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
