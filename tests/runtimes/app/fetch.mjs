// What Cloudflare calls a worker, and Vercel an edge function.
import { fold } from "warmfold";
import { program } from "./program.mjs";

export default { fetch: () => new Response(program(fold)) };
