import { fold } from "warmfold";
import fs from "fs";
let ms=[]; 
const t0=JSON.parse(fs.readFileSync("/work/shared/corpus/openai/codex-viewer-gpt5.json")).messages;
while(JSON.stringify(ms).length<4e6) ms.push(...t0.slice(1));
const s=JSON.stringify(ms); console.log(ms.length, s.length);
function med(f,n=15){const t=[];for(let i=0;i<n;i++){const a=performance.now();f();t.push(performance.now()-a)}t.sort((a,b)=>a-b);return t[n>>1]}
const base=med(()=>JSON.stringify(JSON.parse(s)));
const r=fold(ms,{plan:null,budgetTokens:500000,floorRatio:0.9}); let plan=r.plan; console.log(r.report.reasons, r.plan.edits.length, JSON.stringify(plan).length);
const carried=med(()=>fold(ms,{plan,budgetTokens:500000,floorRatio:0.9})); const r2=fold(ms,{plan}); console.log(r2.folded,r2.report.reasons);
const derive=med(()=>fold(ms,{budgetTokens:500000,floorRatio:0.9}));
const nothing=med(()=>fold(ms,{plan:null,budgetTokens:5000000}));
console.log({base,carried:carried/base,derive:derive/base,nothing:nothing/base});
