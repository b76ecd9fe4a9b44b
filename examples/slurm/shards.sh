#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Milieu command in shards, one per task of a Slurm job array, and the merge when all are done:
#
#   job=$(sbatch --parsable --array=1-8 examples/slurm/shards.sh \
#         milieu features photos --feature gist --out features)
#   sbatch --dependency=afterok:"$job" --wrap "milieu features --merge features"
#
# A ranking of contexts, or the restarts of a method, work in the same way:
#
#   job=$(sbatch --parsable --array=1-8 examples/slurm/shards.sh \
#         milieu dcp features --select beach --rank-contexts --out run)
#   sbatch --dependency=afterok:"$job" \
#          --wrap "milieu dcp features --select beach --rank-contexts --out run --merge"
#
# A task that was killed continues when Slurm starts it again. By hand, run the same command with
# its shard written out: --shard 3/8.
#SBATCH --job-name=milieu
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --requeue
set -eu

if [ $# -eq 0 ]; then
  echo "shards.sh: give the command to run, such as milieu features photos --feature gist --out features" >&2
  exit 2
fi
exec "$@" --shard slurm --threads "${SLURM_CPUS_PER_TASK:-1}"
