#!/bin/sh
# TaskProlog of slurm.conf: says in the job's output if the network gives the job's nodes clearly less
# than it would give the best nodes. The job goes on in any case, after `limit` seconds at the latest.
python=/opt/contend/bin/python
fabric=/opt/contend/net.fabric
limit=5

# Once per job: before its batch script, or before its first step if it has no script.
[ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ] && [ "$SLURM_PROCID" = 0 ] && [ -z "$CONTEND_TOLD" ] || exit 0
case $SLURM_STEP_ID in 0 | 429496729?) ;; *) exit 0 ;; esac
echo "export CONTEND_TOLD=1"

[ -t 2 ] || exec 2>/dev/null
echo "$SLURM_JOB_ID,$SLURM_JOB_NODELIST" |
  OMP_NUM_THREADS=1 timeout --kill-after=1 "$limit" "$python" -I -c '
import sys
import contend

fabric = contend.load(sys.argv[1])
[job] = contend.jobs(fabric, "-").jobs
if job.leaves > job.fewest_leaves and job.alone < 0.9:
    best = contend.jobs(fabric, {}, following=job.servers).next.best.alone
    if job.alone < 0.9 * best:
        print(f"print contend: the {job.servers} nodes of this job are on {job.leaves} leaf switches;",
              f"{job.fewest_leaves} would do. Its messages get {100 * job.alone:.0f} % of a port\047s",
              f"rate; on the best nodes they would get {100 * best:.0f} %.")
' "$fabric"
exit 0
