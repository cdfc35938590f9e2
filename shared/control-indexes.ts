import type { IndexDescription } from 'mongodb';
import { developerIndexes } from './accounts/developers/developers.ts';
import { tokenIndexes } from './accounts/developers/tokens.ts';
import { userInvitationIndexes } from './accounts/users/invitation-records.ts';
import { cascadeIndexes } from './documents/store/cascade-records.ts';
import { mailLogIndexes } from './mail/log.ts';
import { suppressionIndexes } from './mail/suppressions.ts';
import { templateIndexes } from './mail/templates/templates.ts';
import { auditIndexes } from './members/audit.ts';
import { closeMongo, onControl } from './persistence/mongo.ts';
import { forgetSecrets } from './persistence/secrets.ts';
import { transferIndexes } from './transfers/transfer.ts';
import { deliveryIndexes, webhookIndexes } from './webhooks/records.ts';

/** A project that is being deleted frees its slot, so that its owner can create another immediately. */
const projectIndexes: readonly IndexDescription[] = [
  { key: { 'keys.hash': 1 }, name: 'key', unique: true },
  { key: { ownerId: 1, slot: 1 }, name: 'slot', unique: true, partialFilterExpression: { state: 'active' } },
  { key: { deletingSince: 1 }, name: 'deleting', partialFilterExpression: { state: 'deleting' } },
  { key: { ownerId: 1, state: 1, _id: -1 }, name: 'owner' },
  { key: { 'members.developerId': 1, state: 1, _id: -1 }, name: 'member' },
  { key: { 'invitations.tokenHash': 1 }, name: 'invitation', sparse: true },
  { key: { trashDueAt: 1 }, name: 'trash', partialFilterExpression: { state: 'active' } },
];

const collectionIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, nameKey: 1 }, name: 'nameKey', unique: true },
  { key: { projectId: 1, slot: 1 }, name: 'slot', unique: true },
  { key: { projectId: 1, name: 1 }, name: 'name' },
  { key: { state: 1, updatedAt: 1 }, name: 'state' },
  { key: { editingSince: 1 }, name: 'editing', sparse: true },
  { key: { effectsDueAt: 1 }, name: 'effects', sparse: true },
];

/** Collection → indexes. The unique ones decide between concurrent callers. */
export const controlIndexes: Readonly<Record<string, readonly IndexDescription[]>> = {
  developers: developerIndexes,
  projects: projectIndexes,
  collections: collectionIndexes,
  personalTokens: tokenIndexes,
  auditEntries: auditIndexes,
  transfers: transferIndexes,
  mailTemplates: templateIndexes,
  mailLogs: mailLogIndexes,
  mailSuppressions: suppressionIndexes,
  webhooks: webhookIndexes,
  webhookDeliveries: deliveryIndexes,
  cascades: cascadeIndexes,
  userInvitations: userInvitationIndexes,
};

/** Creates missing indexes; existing ones are unchanged. */
export const ensureControlIndexes = (): Promise<void> =>
  onControl(async (db) => {
    for (const [name, indexes] of Object.entries(controlIndexes)) await db.collection(name).createIndexes([...indexes]);
  });

/** Reads the URI again: a process left by a failed deployment has the old one. */
export const prepareControl = async (): Promise<void> => {
  await closeMongo();
  forgetSecrets();
  await ensureControlIndexes();
};
