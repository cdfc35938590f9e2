import { ObjectId } from 'mongodb';
import { findPage } from '../clients/find-page.ts';
import { AppError } from '../core/errors.ts';
import { idOf } from '../core/id-of.ts';
import type { Page, PageRequest } from '../core/page.ts';
import { type View, viewOf } from '../core/view.ts';
import { type WebhookRecord, webhookRecords } from '../events/webhook-record.ts';
import type { Project } from '../projects/project.ts';

const shown = ['_id', 'url', 'events', 'enabled', 'createdAt', 'updatedAt'] as const;

/** A webhook as its developers see it; `collections` only where it names some. */
export interface WebhookView extends View<WebhookRecord, (typeof shown)[number]> {
  readonly collections?: readonly string[];
}

export const toWebhookView = (record: WebhookRecord): WebhookView => ({
  ...viewOf(record, shown),
  ...(record.collections && { collections: record.collections }),
});

export const webhookNotFound = (): AppError => new AppError('WEBHOOK_NOT_FOUND', 'Webhook not found');

/** One of a project's webhooks; malformed, unknown and those of other projects → 404 `WEBHOOK_NOT_FOUND`. */
export const requireWebhook = async (project: Pick<Project, 'id'>, webhookId: string): Promise<WebhookRecord> => {
  const _id = idOf(webhookId);
  const record = _id && (await webhookRecords.findOne({ _id, projectId: new ObjectId(project.id) }));
  if (!record) throw webhookNotFound();
  return record;
};

export const getWebhook = async (project: Pick<Project, 'id'>, webhookId: string): Promise<WebhookView> =>
  toWebhookView(await requireWebhook(project, webhookId));

/** A page of a project's webhooks, newest first. */
export const listWebhooks = ({ id }: Pick<Project, 'id'>, request: PageRequest): Promise<Page<WebhookView>> =>
  findPage(webhookRecords, { projectId: new ObjectId(id) }, request, { sort: { _id: -1 } }, toWebhookView);
