import { fold, decide } from "warmfold";
import fs from "fs";
let ms=[]; 
const t0=JSON.parse(fs.readFileSync("/work/shared/corpus/openai/codex-viewer-gpt5.json")).messages;
while(JSON.stringify(ms).length<4e6) ms.push(...t0.slice(1));
const { plan } = fold(ms,{plan:null,budgetTokens:500000,floorRatio:0.9});
for(let i=0;i<100;i++) fold(ms,{plan,budgetTokens:500000,floorRatio:0.9});
