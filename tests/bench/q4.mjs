import { fold } from "warmfold";
import fs from "fs";
const asc=v=>typeof v==="string"?v.replace(/[^\x00-\x7f]/g,"x"):v;const t0=JSON.parse(fs.readFileSync("/work/shared/corpus/openai/codex-viewer-gpt5.json"),(k,v)=>asc(v)).messages;
const results=t0.filter(m=>m.role=="tool").map(m=>m.content).filter(c=>c.length>2000);
let ms=[{role:"user",content:"go"}];
for(let i=0;ms.length<1000;i++){ms.push({role:"assistant",content:null,tool_calls:[{id:"c"+i,type:"function",function:{name:"read",arguments:JSON.stringify({path:"src/f"+i+".rs"})}}]});
 let c=results[i%results.length]; while(c.length<8000)c+=results[(i*7+3)%results.length]; ms.push({role:"tool",tool_call_id:"c"+i,content:i+c.slice(0,8000)})}
ms=JSON.parse(Buffer.from(JSON.stringify(ms)).toString("latin1"));const s=JSON.stringify(ms); console.log(ms.length, s.length); const fresh=()=>ms;
function med(f,n=21){const t=[];for(let i=0;i<n;i++){const a=performance.now();f();t.push(performance.now()-a)}t.sort((a,b)=>a-b);return t[n>>1]}
const o={budgetTokens:600000,floorRatio:0.9};
const r=fold(ms,{...o,plan:null}); let plan=r.plan; console.log(r.report.reasons, r.plan.edits.length);
const base=med(()=>JSON.stringify(JSON.parse(s)));
const carried=med(()=>fold(ms,{...o,plan})); 
const derive=med(()=>fold(ms,o));
const nothing=med(()=>fold(ms,{plan:null,budgetTokens:5000000}));
const first=med(()=>fold(ms,{...o,plan:null}));
console.log({base,carried:carried/base,derive:derive/base,nothing:nothing/base,first:first/base});
if(process.argv[2])for(let i=0;i<200;i++)fold(ms,{...o,plan});
