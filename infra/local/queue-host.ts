import { buildApp } from 'fauxqs';

// Runs the queue service in a process of its own: queue-host.ts PORT REGION. It holds messages in memory only. Prints
// "up"; ends with its standard input.
const [port = '', region = ''] = process.argv.slice(2);

for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(0));
process.stdin.resume();

await buildApp({ logger: false, defaultRegion: region }).listen({ port: Number(port), host: '127.0.0.1' });
process.stdout.write('up\n');
