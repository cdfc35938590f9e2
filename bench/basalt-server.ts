/** Basalt's public API as `npm start` serves it, in a process of its own, so that its CPU can be told apart. */
import { publicRoutes } from '../functions/routes.ts';
import { createGateway } from '../infra/local/gateway.ts';
import { inProcess } from '../infra/local/in-process.ts';
import { findRouteIn } from '../infra/local/targets.ts';
import { permitAddresses } from '../test/support/permitted-addresses.ts';

permitAddresses(process.env.PERMITTED_ADDRESSES);

const server = createGateway({
  findRoute: findRouteIn(publicRoutes),
  invoke: inProcess(),
  cors: undefined,
  onFailure: (name, error) => console.error(name, error),
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on('message', () => process.send?.({ cpu: process.cpuUsage() }));
process.on('disconnect', () => process.exit(0));
