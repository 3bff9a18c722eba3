#include "solvers/replay.h"
enum fc_code fc_run_graph(struct fc_run *run){ return fc_refuse(run->job->st, FC_NO, "graph"); }
