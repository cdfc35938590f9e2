import type { Server } from 'node:http';
import path from 'node:path';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { closeDynamo } from '../../shared/clients/dynamo.ts';
import { closeMongo } from '../../shared/clients/mongo.ts';
import { closeSqs } from '../../shared/clients/sqs.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { describeError, log } from '../../shared/log.ts';
import { type CorsPolicy, dashboardCorsPolicy, publicCorsPolicy } from '../cors-policy.ts';
import { bundled } from './bundled.ts';
import { corsOf } from './cors.ts';
import type { Databases } from './databases.ts';
import { encryptionKey } from './encryption-key.ts';
import { closeGateway, createGateway, type Invoke } from './gateway.ts';
import { inProcess } from './in-process.ts';
import { claim } from './lock.ts';
import { refuseOutsideHosts } from './loopback-only.ts';
import { startMail } from './mail.ts';
import { outsideEnvironment, startOutside } from './outside.ts';
import { listen, probePort } from './ports.ts';
import { inboxOf } from './providers.ts';
import { runDeploymentJobs, startSchedules } from './schedules.ts';
import type { LocalSettings } from './settings.ts';
import { prepareDirectory } from './state-directory.ts';
import { Stops } from './stops.ts';
import { findRouteIn } from './targets.ts';

export interface StackOptions extends LocalSettings {
  /** A folder of bundles to serve, each function in processes of its own, instead of the sources in this process. */
  readonly bundles?: string;
  /** Told about each step, for the person who waits. */
  readonly report: (step: string) => void;
  /** A part ended although nobody stopped it; the rest has been stopped by then. */
  readonly onFailure: (detail: string) => void;
}

export interface Stack extends Databases {
  /** The public API. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The page on which the mails that went out can be read. */
  readonly inboxUrl: string;
  /** The environment that functions run with. */
  readonly env: Readonly<Record<string, string>>;
  readonly invoke: Invoke;
  /** Lets running requests finish, for a few seconds at most, and ends every part; data stays. */
  stop(): Promise<void>;
}

const finishMs = 3000;

const logFailure = (name: string, error: unknown): void =>
  log.error({ message: 'The function failed', function: name, ...describeError(error) });

const gatewayFor = (tables: Readonly<Record<string, RouteTable>>, policy: CorsPolicy | undefined, invoke: Invoke) =>
  createGateway({
    findRoute: findRouteIn(tables),
    cors: policy && corsOf(policy),
    invoke,
    onFailure: logFailure,
  });

const closeClients = async (): Promise<void> => {
  closeDynamo();
  closeSqs();
  await closeMongo();
};

/** Functions run in this process, or as bundles in their own; `env` is all they are told. */
const functionsOf = (bundles: string | undefined, env: Readonly<Record<string, string>>, stops: Stops): Invoke => {
  if (bundles !== undefined) {
    const { invoke, stop } = bundled(bundles, env);
    stops.add(stop);
    return invoke;
  }
  return inProcess();
};

const serve = async (server: Server, port: number, setting: string, stops: Stops): Promise<string> => {
  const address = `http://127.0.0.1:${await listen(server, port, setting)}`;
  stops.add(() => closeGateway(server, finishMs));
  return address;
};

const begin = async (options: StackOptions, stops: Stops): Promise<Stack> => {
  const { port, report, onFailure } = options;
  refuseOutsideHosts();
  const directory = path.resolve(options.directory);
  await prepareDirectory(directory);
  const dashboardPort = port === 0 ? 0 : port + 1;
  stops.add(await claim(path.join(directory, 'lock'), port));
  const publicPort = await probePort(port);
  if (dashboardPort !== 0) await probePort(dashboardPort, 'The dashboard port');

  const ENCRYPTION_KEY = await encryptionKey(directory);
  const onExit = (detail: string): void => {
    stops.run().then(
      () => onFailure(detail),
      () => onFailure(detail),
    );
  };
  const outside = await startOutside(directory, options, { report, onExit }, stops);
  report('MongoDB, DynamoDB, the queues and the providers are up');
  const env = {
    ...options.functions,
    ...outsideEnvironment(outside, options),
    ENCRYPTION_KEY,
    PUBLIC_URL: `http://127.0.0.1:${publicPort}`,
  };
  Object.assign(process.env, env);
  stops.add(closeClients);
  const invoke = functionsOf(options.bundles, env, stops);
  await runDeploymentJobs(invoke);
  report('The control database is ready');
  stops.add(startSchedules(invoke, logFailure));
  stops.add(await startMail(outside.queues, invoke, logFailure));

  const dashboardPolicy = dashboardCorsPolicy(options.dashboardOrigins);
  const [baseUrl, dashboardUrl] = await Promise.all([
    serve(gatewayFor(publicRoutes, publicCorsPolicy, invoke), publicPort, 'PORT', stops),
    serve(gatewayFor(dashboardRoutes, dashboardPolicy, invoke), dashboardPort, 'The dashboard port', stops),
  ]);
  const inboxUrl = inboxOf(outside.providers);
  return { ...outside.databases, baseUrl, dashboardUrl, inboxUrl, env, invoke, stop: () => stops.run() };
};

/**
 * Starts the whole service on this machine: databases, queues, providers, functions, schedules and both gateways, on
 * loopback only.
 * `port` 0 takes free ports. One stack a process, because functions read their settings once. What the person at the
 * keyboard can mend is thrown as `StartProblem`; whatever had been started is stopped by then.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const stops = new Stops();
  try {
    return await begin(options, stops);
  } catch (error) {
    await stops.run();
    throw error;
  }
};
