import { localAccount } from './aws-account.ts';
import { type Databases, databaseEnvironment, startDatabases } from './databases.ts';
import { localLinkKeys } from './files/link-keys.ts';
import { type Files, type FilesHostOptions, filesEnvironment, findFiles } from './files/start-files.ts';
import type { LocalServiceOptions } from './local-service.ts';
import { type MailWebhook, type Providers, providerEnvironment, startProviders } from './providers.ts';
import { type Queues, startQueues } from './queues.ts';
import type { LocalSettings } from './settings.ts';
import type { Stops } from './stops.ts';

/** The backing services of the local stack: databases, queues, providers and the file store. */
interface BackingServices {
  readonly databases: Databases;
  readonly queues: Queues;
  readonly providers: Providers;
  readonly files: Files;
}

/** Starts databases, queues, providers and the file store side by side, with data in `directory`. */
export const startBackingServices = async (
  directory: string,
  settings: LocalSettings,
  webhook: MailWebhook,
  files: Pick<FilesHostOptions, 'keys' | 'sizes'>,
  options: LocalServiceOptions,
  stops: Stops,
): Promise<BackingServices> => {
  const parts = await Promise.allSettled([
    startDatabases(directory, settings, options, stops),
    startQueues({ ...options, ...localAccount }),
    startProviders(settings.port, webhook, options),
    findFiles(directory, settings, { ...options, ...files, linkKeys: await localLinkKeys() }),
  ]);
  const [databases, queues, providers, store] = parts;
  for (const part of [queues, providers, store]) if (part.status === 'fulfilled') stops.add(part.value.stop);
  if (databases.status === 'rejected') throw databases.reason;
  if (queues.status === 'rejected') throw queues.reason;
  if (providers.status === 'rejected') throw providers.reason;
  if (store.status === 'rejected') throw store.reason;
  return { databases: databases.value, queues: queues.value, providers: providers.value, files: store.value };
};

/** The environment variables by which functions find them. */
export const backingServiceEnvironment = (
  { databases, queues, providers, files }: BackingServices,
  settings: LocalSettings,
): Record<string, string> => ({
  // For what has no address of its own, so that nothing is ever asked of Amazon.
  AWS_ENDPOINT_URL: queues.endpoint,
  ...databaseEnvironment(databases, settings),
  MAIL_QUEUE_URL: queues.urls.mail,
  WORK_QUEUE_URL: queues.urls.work,
  WEBHOOK_QUEUE_URL: queues.urls.webhooks,
  ...providerEnvironment(providers),
  ...filesEnvironment(files),
});
