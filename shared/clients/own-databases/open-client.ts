import { MongoClient, type MongoClientOptions } from 'mongodb';
import { pinnedLookup } from '../net/pinned-lookup.ts';
import { noFieldsAsRaw } from '../raw-documents.ts';
import { type DatabaseUri, seedText } from './database-uri.ts';
import { GuardedConnections, keepConnections } from './guarded-connections.ts';
import { guardMembers } from './hello-guard.ts';
import type { Target } from './resolve-seeds.ts';
import { UnsupportedUri } from './uri-options.ts';

/** The driver rejects combinations of options that its types allow. */
const newClient = (uri: string, options: MongoClientOptions): MongoClient => {
  const connections = new GuardedConnections();
  const { connectionType } = connections;
  try {
    return keepConnections(new MongoClient(uri, { ...options, connectionType } as MongoClientOptions), connections);
  } catch {
    throw new UnsupportedUri();
  }
};

/**
 * A client of a customer's database; connects on first use, and only to addresses that are checked at that moment. What
 * a server sends that is no reply, or larger than one, ends its connection; `endClient` closes it whatever its servers
 * do. Options that the driver does not take together → `UnsupportedUri`. `onRefused` is told when a server names a
 * member that is restricted.
 */
export const openClient = (
  { credentials, authDatabase }: DatabaseUri,
  {
    seeds,
    options: { w = 'majority', journal = true, readConcernLevel, authSource = authDatabase, authMechanism, ...options },
  }: Target,
  settings: MongoClientOptions,
  onRefused?: () => void,
): MongoClient => {
  const client = newClient(`mongodb://${seeds.map(seedText).join(',')}/`, {
    appName: 'basalt',
    ...settings,
    ...options,
    ...(credentials ? { auth: credentials, authSource, ...(authMechanism ? { authMechanism } : {}) } : {}),
    ...(readConcernLevel ? { readConcernLevel } : {}),
    writeConcern: { w, journal },
    lookup: pinnedLookup,
    serverMonitoringMode: 'poll',
    ignoreUndefined: true,
    fieldsAsRaw: noFieldsAsRaw,
    // Documents that others have written may hold anything.
    enableUtf8Validation: false,
  });
  return guardMembers(client, onRefused);
};
