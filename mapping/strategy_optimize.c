#include "mapping/bipartition.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
static double env(const char*n,double d){return getenv(n)?atof(getenv(n)):d;}
static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    struct fc_mapping start;
    if (fc_mapping_make(problem, getenv("START")?getenv("START"):"def", &start, st)) return st->code;
    struct fc_unit_graph g;
    struct fc_search s;
    bool block=getenv("BLOCK");
    uint32_t n=mapping->n_tasks, *unit=fc_alloc(&mapping->arena,n,4,st), *slot=fc_alloc(&mapping->arena,slots.n,4,st), *place=fc_alloc(&mapping->arena,n,4,st);
    uint32_t nu=n;
    if(block){ uint32_t *un=fc_alloc(&mapping->arena,problem->net->n_nodes,4,st); memset(un,0xff,4*problem->net->n_nodes); nu=0;
      for(uint32_t t=0;t<n;t++){ uint32_t nd=start.node[t]; if(un[nd]==FC_NONE){slot[nu]=nd;un[nd]=nu++;} unit[t]=un[nd]; place[t]=start.core[t]%slots.cores_per_node; } }
    else for(uint32_t t=0;t<n;t++){unit[t]=t; slot[t]=start.node[t]*slots.per_node+start.core[t]%slots.cores_per_node;}
    if(fc_unit_graph_build(problem->demand,unit,nu,&mapping->arena,&g,st)) return st->code;
    if(fc_search_start(problem->net,&g,slots.node,slots.n_nodes,block?1:slots.per_node,slot,&s,st)) return st->code;
    fprintf(stderr,"start T %g hop %g edges %lu\n",fc_search_time_s(&s),s.hop_sum,g.first[g.n]);
    if(getenv("HEAT")){ struct fc_distance_table tab; double a=fc_cpu_s();
      if(fc_distances_all(problem->net,slots.node,slots.n_nodes,1000000000,&mapping->arena,&tab,st)) return st->code;
      fprintf(stderr,"table %g s\n",fc_cpu_s()-a); a=fc_cpu_s();
      int nb=(int)env("NB",0); double bc=1e300; uint32_t*bs=fc_alloc(&mapping->arena,n,4,st),*cs=fc_alloc(&mapping->arena,n,4,st);
      for(int i=0;i<nb;i++){ uint64_t w=0; double aa=fc_cpu_s();
       if(fc_bisection_map(problem->net,&g,&tab,slots.node,block?1:slots.per_node,problem->seed,(uint64_t)i<<32,cs,&w,st)) return st->code;
       double c=fc_hop_cost(&g,&tab,cs,block?1:slots.per_node); if(c<bc){bc=c;memcpy(bs,cs,4*nu);}
       fprintf(stderr,"bisect %d: cost %g work %g, %g s\n",i,c,(double)w,fc_cpu_s()-aa);
      }
      if(nb) memcpy(slot,bs,4*nu);
      int nr=(int)env("NR",1);
      for(int i=0;i<nr;i++){
      if(fc_hop_anneal(&g,&tab,block?1:slots.per_node,NULL,env("HEAT",0),(uint64_t)(env("HT",1)*1e8),problem->seed,1000+i,slot,st)) return st->code;
      fprintf(stderr,"hop %g s: cost %g\n",fc_cpu_s()-a,fc_hop_cost(&g,&tab,slot,block?1:slots.per_node));}
      fc_search_free(&s); fc_search_start(problem->net,&g,slots.node,slots.n_nodes,block?1:slots.per_node,slot,&s,st);
      fprintf(stderr,"after hop T %g\n",fc_search_time_s(&s));
    }
    int rounds=(int)env("ROUNDS",1);
    for(int i=0;i<rounds;i++){
    struct fc_search_settings set={.start_temperature=env("T0",1e-2),.end_temperature=env("T1",1e-5),.doublings=(int)env("P",3),.hop_weight=env("HW",0.01),.work=(uint64_t)(problem->time_s*env("RATE",1e8)/rounds),.seed=problem->seed,.stream=FC_MAP_PROPOSALS+2*(unsigned)i};
    double a=fc_cpu_s();
    fc_search_run(&s,&set,problem->progress,0,1);
    fprintf(stderr,"end T %g, %g s, %.3g updates/s\n",fc_search_time_s(&s),fc_cpu_s()-a,set.work/(fc_cpu_s()-a));
    }
    for(uint32_t t=0;t<n;t++) if(block) fc_map_put(mapping,&slots,t,s.unit_node[unit[t]],place[t]); else fc_map_put_slot(mapping,&slots,t,s.slot[t]);
    return FC_OK;
}
const struct fc_strategy_ops fc_strategy_optimize = {.name = "optimize", .map = map};
