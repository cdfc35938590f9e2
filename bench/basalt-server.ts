/**
 * Basalt's APIs as `npm start` serves them, in a process of its own, so that its CPU and its database commands can be
 * measured.
 */
import { dashboardRoutes, publicRoutes } from '../functions/routes.ts';
import { createGateway } from '../infra/local/gateway.ts';
import { inProcess } from '../infra/local/in-process.ts';
import { permitAddresses } from '../infra/local/permit-addresses.ts';
import { findRouteIn } from '../infra/local/router.ts';
import { listenToCommands, takeCommands } from '../test/support/command-notes.ts';
import { answerMain } from './answer-main.ts';

permitAddresses(process.env.PERMITTED_ADDRESSES);

if (process.env.BENCH_COMMANDS) listenToCommands();

const findPublic = findRouteIn(publicRoutes);
const findDashboard = findRouteIn(dashboardRoutes);

export const server = createGateway({
  // One server for both APIs; elsewhere they have different addresses.
  findRoute: (method, path) => (path.startsWith('/api/projects') ? findDashboard : findPublic)(method, path),
  invoke: inProcess(),
  cors: undefined,
  onFailure: (name, error) => console.error(name, error),
});
server.listen(0, '127.0.0.1', () => answerMain(server, takeCommands));
