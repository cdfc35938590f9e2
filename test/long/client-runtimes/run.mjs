// Runs the smoke test in Node or Deno. Arguments: the client file, and the address and keys as JSON.
import process from 'node:process';
import { smoke } from './smoke.mjs';

const [, , client, project] = process.argv;
console.log(JSON.stringify(await smoke(await import(client), JSON.parse(project))));
