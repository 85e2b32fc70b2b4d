// Package hosts simulates the machines behind EC2 instances: their disks,
// processes, services and network, and what runs on them. It implements
// world.Hosts.
//
// A machine runs on one of two executors. With processes, its programs are
// processes of the operating system: scripts run in a real sh, and the
// commands on the machine's PATH are links to one binary, which calls
// MultiCall. In process, the same programs are goroutines and the same scripts
// run in an interpreter, so that a whole landscape lives in a bubble of
// testing/synctest; scripts must then keep to the commands in Programs and to
// POSIX sh.
//
// The disk of a machine is one directory, HADR_ROOT, which survives Off and
// Shutdown. Paths of the machine, such as /etc and /var/lib, are below it.
//
// What it follows:
//
//   - Off is a stop without the operating system, as StopInstances with Force
//     and SkipOsShutdown: no service is stopped, no connection is closed.
//     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Stop_Start.html
//   - User data runs as root at the first boot only:
//     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
//   - Status checks: the system check is about the hardware, the instance check
//     about the answer of its operating system.
//     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html
//   - The SSM agent runs document steps as root and can't be reached while the
//     machine is down, frozen or cut off.
//     https://docs.aws.amazon.com/systems-manager/latest/userguide/ssm-agent-technical-details.html
//   - procstat_lookup_pid_count of the CloudWatch agent, per process name and
//     aggregated by InstanceId:
//     https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-procstat-process-metrics.html
//   - Addresses added with "ip addr add" are gone after a reboot.
package hosts
