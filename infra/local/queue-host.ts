import { buildApp } from 'fauxqs';
import { endWithInput, printReady } from './helper-process.ts';

// Runs the queue service: queue-host.ts PORT REGION. Messages are only kept in memory.
const [port = '', region = ''] = process.argv.slice(2);

endWithInput();
await buildApp({ logger: false, defaultRegion: region }).listen({ port: Number(port), host: '127.0.0.1' });
printReady();
