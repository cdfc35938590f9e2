import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import path from 'node:path';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { describeError, log } from '../../shared/core/log.ts';
import { closeExternalStorages } from '../../shared/files/external-bucket.ts';
import { type ConsolePlaces, docsPath } from '../../shared/http/console-headers.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { closeDynamo } from '../../shared/persistence/dynamo.ts';
import { closeLambda } from '../../shared/persistence/lambda.ts';
import { closeMongo } from '../../shared/persistence/mongo.ts';
import { closeObjects } from '../../shared/persistence/objects.ts';
import { closeS3 } from '../../shared/persistence/s3.ts';
import { closeSqs } from '../../shared/persistence/sqs.ts';
import { functionName } from '../build/function-files.ts';
import { type CorsPolicy, dashboardCorsPolicy, publicCorsPolicy } from '../stacks/cors-policy.ts';
import { type BackingServices, backingServiceEnvironment, startBackingServices } from './backing-services.ts';
import { bundled } from './bundled.ts';
import { consoleSite, type ServeSite } from './console-site.ts';
import type { GatewayEvent } from './event.ts';
import type { S3Keys } from './files/signature.ts';
import { closeGateway, createGateway, type Invoke } from './gateway.ts';
import { inProcess } from './in-process.ts';
import { startInvocations } from './invocations.ts';
import { encryptionKey, fileStoreKeys, localWebhookSecret } from './keys.ts';
import { blockExternalFetch, permitAddress } from './permit-addresses.ts';
import { listen, onFreePorts, originAt, portAfter, preferPort } from './ports.ts';
import { inboxOf } from './providers.ts';
import { createEventApi } from './realtime/event-api.ts';
import { corsOf } from './response.ts';
import { findRouteIn } from './router.ts';
import { runDeploymentJobs, startQueueFunctions, startSchedules } from './run-jobs.ts';
import type { LocalSettings } from './settings.ts';
import { type Credentials, SignInLinks } from './sign-in-link.ts';
import { acquireLock, prepareDirectory } from './state-directory.ts';

interface StackOptions extends LocalSettings {
  /** Builds bundles and returns their folder. Without it, the functions run from source in this process. */
  readonly bundles?: () => Promise<string>;
  /** Prints a step. */
  readonly report: (step: string) => void;
  /** A part ended on its own; all others have been stopped. */
  readonly onFailure: (detail: string) => void;
}

export interface Stack extends Pick<BackingServices, 'mongoUri' | 'dynamoUrl'> {
  /** The public API. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The page that shows sent emails. */
  readonly inboxUrl: string;
  /** The receiver of email events. */
  readonly webhookUrl: string;
  /** The secret that signs email events, `whsec_…`; empty if none is set. */
  readonly webhookSecret: string;
  readonly filesUrl: string;
  /** The environment of the functions. */
  readonly env: Readonly<Record<string, string>>;
  readonly invoke: Invoke;
  /** Returns a console link that signs in a developer one time, within ten minutes. */
  readonly offerSignIn: (credentials: Credentials) => string;
  /** Lets running requests finish, for 3 s at most, and stops every part. The data stay. */
  stop(): Promise<void>;
}

const maxFinishMs = 3000;

const webhookFunction = functionName('mail/webhook', publicRoutes['mail/webhook']['receive-webhook'].id);
const imageVariantFunction = functionName('jobs', 'make-size');

const logFailure = (name: string, error: unknown): void =>
  log.error({ message: 'The function failed', function: name, ...describeError(error) });

const gatewayFor = (
  tables: Readonly<Record<string, RouteTable>>,
  policy: CorsPolicy | undefined,
  invoke: Invoke,
  site?: ServeSite,
) =>
  createGateway({
    findRoute: findRouteIn(tables),
    cors: policy && corsOf(policy),
    ...(site ? { site } : {}),
    invoke,
    onFailure: logFailure,
  });

/** A Lambda function URL, which passes every request to one function. */
const functionUrlFor = (name: string, invoke: Invoke) =>
  createGateway({
    findRoute: () => ({ name, routeKey: '$default', pathParameters: undefined }),
    cors: undefined,
    invoke,
    onFailure: logFailure,
  });

/** Rejects requests without this `authorization` header. In a deployment, only CloudFront may call such a function. */
const requireCaller =
  (invoke: Invoke, caller: string): Invoke =>
  async (name, event) => {
    const { headers } = event as GatewayEvent;
    return headers.authorization === caller ? invoke(name, event) : { statusCode: 403 };
  };

const closeClients = async (): Promise<void> => {
  closeDynamo();
  closeLambda();
  closeSqs();
  closeS3();
  closeObjects();
  closeExternalStorages();
  await closeMongo();
};

const startFunctions = async (
  bundles: StackOptions['bundles'],
  env: Readonly<Record<string, string>>,
  stops: AsyncDisposableStack,
): Promise<Invoke> => {
  if (bundles === undefined) return inProcess();
  const { invoke, stop } = bundled(await bundles(), env);
  stops.defer(stop);
  return invoke;
};

/** Listens on a port and returns the address. */
const serve = async (server: Server, port: number, setting: string, stops: AsyncDisposableStack): Promise<string> => {
  stops.defer(() => closeGateway(server, 0));
  return originAt(await listen(server, port, setting));
};

/** The preferred port, counted from the public API's. */
const eventApiOffset = 8;

/** Starts the Event API for live updates. Returns the environment variables that lead functions and clients to it. */
const serveEvents = (
  port: number,
  invoke: Invoke,
  keys: S3Keys,
  stops: AsyncDisposableStack,
): Promise<Record<string, string>> =>
  onFreePorts(async () => {
    const { server, close } = createEventApi(invoke, keys);
    const eventPort = await listen(server, await preferPort(portAfter(port, eventApiOffset)));
    stops.defer(close);
    return {
      REALTIME_URL: `ws://127.0.0.1:${eventPort}/event/realtime`,
      REALTIME_PUBLISH_URL: `${originAt(eventPort)}/event`,
    };
  });

const begin = async (options: StackOptions, stops: AsyncDisposableStack, stop: () => Promise<void>): Promise<Stack> => {
  const { port, report, onFailure } = options;
  blockExternalFetch(options.functions.AI_BASE_URL);
  const directory = path.resolve(options.directory);
  await prepareDirectory(directory);

  stops.defer(await acquireLock(path.join(directory, 'lock'), port));
  const opened = Promise.withResolvers<Invoke>();
  const addresses = Promise.withResolvers<ConsolePlaces>();
  // The ports are taken first; requests wait until the functions have started.
  const onRequest: Invoke = async (name, event) => (await opened.promise)(name, event);
  const links = new SignInLinks();
  const filesCaller = randomUUID();
  const gateways = [
    gatewayFor(publicRoutes, publicCorsPolicy, onRequest),
    gatewayFor(
      dashboardRoutes,
      dashboardCorsPolicy(options.dashboardOrigins),
      links.around(onRequest),
      consoleSite(addresses.promise, Boolean(options.functions.AI_BASE_URL)),
    ),
    functionUrlFor(webhookFunction, onRequest),
    functionUrlFor(imageVariantFunction, requireCaller(onRequest, filesCaller)),
  ] as const;
  const baseUrl = await serve(gateways[0], port, 'PORT', stops);
  const dashboardUrl = await serve(gateways[1], portAfter(port, 1), 'The dashboard port', stops);
  const webhookUrl = `${await serve(gateways[2], portAfter(port, 2), 'The webhook port', stops)}/`;
  const variantsUrl = await serve(gateways[3], 0, 'The image port', stops);

  const ENCRYPTION_KEY = await encryptionKey(directory);
  // The key for links to files is derived from it, and the file store needs that key before the functions start.
  Object.assign(process.env, { ENCRYPTION_KEY });
  const { MAIL_WEBHOOK_SECRET = localWebhookSecret(ENCRYPTION_KEY) } = options.functions;
  const onExit = (detail: string): void => {
    stop().then(
      () => onFailure(detail),
      () => onFailure(detail),
    );
  };
  const backing = await startBackingServices(
    directory,
    options,
    { url: webhookUrl, secrets: MAIL_WEBHOOK_SECRET },
    { keys: fileStoreKeys(ENCRYPTION_KEY), variants: { url: variantsUrl, caller: filesCaller } },
    { report, onExit },
    stops,
  );
  permitAddress(new URL(backing.providers.socialUrls.openid).host);
  report('MongoDB, DynamoDB, queues, file store and fake providers are running');
  // The functions need this address when they start, and it only calls them later.
  const invocations = await startInvocations((name, event) => invoke(name, event));
  stops.defer(invocations.stop);
  const env = {
    DASHBOARD_URL: dashboardUrl,
    ...options.functions,
    MAIL_WEBHOOK_SECRET,
    ...backingServiceEnvironment(backing, options),
    ...invocations.environment,
    ...(options.liveUpdates && (await serveEvents(port, onRequest, backing.files.keys, stops))),
    ENCRYPTION_KEY,
    PUBLIC_URL: baseUrl,
    DASHBOARD_API_URL: dashboardUrl,
    DOCS_URL: `${dashboardUrl}${docsPath}`,
    DASHBOARD_ORIGINS: [dashboardUrl, ...options.dashboardOrigins].join(','),
  };
  Object.assign(process.env, env);
  stops.defer(closeClients);
  const invoke = await startFunctions(options.bundles, env, stops);
  await runDeploymentJobs(invoke);
  report('The control database is ready');
  stops.defer(startSchedules(invoke, logFailure));
  stops.defer(await startQueueFunctions(backing.queues, invoke, logFailure));

  // Added last, so they close first: running requests finish while everything else still works.
  for (const gateway of gateways) stops.defer(() => closeGateway(gateway, maxFinishMs));
  opened.resolve(invoke);
  const inboxUrl = inboxOf(backing.providers);
  const { filesUrl } = backing.files;
  const uploads = new URL(backing.files.s3Url).origin;
  addresses.resolve({ api: baseUrl, files: [new URL(filesUrl).origin], uploads });
  return {
    mongoUri: backing.mongoUri,
    dynamoUrl: backing.dynamoUrl,
    baseUrl,
    dashboardUrl,
    inboxUrl,
    webhookUrl,
    webhookSecret: MAIL_WEBHOOK_SECRET.split(/[\s,]+/).find(Boolean) ?? '',
    filesUrl,
    env,
    invoke,
    offerSignIn: (credentials) => links.offer(dashboardUrl, credentials),
    stop,
  };
};

/**
 * Starts the complete service on loopback: databases, queues, fake providers, functions, schedules and both APIs. Port 0
 * uses free ports. Only one per process, because functions read their settings one time. Throws `StartProblem` for what
 * the user can fix; all started parts are stopped by then.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const stops = new AsyncDisposableStack();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= stops.disposeAsync();
    return stopping;
  };
  try {
    return await begin(options, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
};
