import {
  canonicalCollection,
  canonicalSettings,
  canonicalTemplate,
  canonicalWebhook,
  type IndexShape,
  type JsonObject,
  meaningOf,
  type ProjectShape,
  sorted,
  type WebhookShape,
} from './canonical.ts';
import { getProject, type Linked } from './linked-project.ts';
import { providersOf, secretsOf } from './placeholders.ts';

/** A project as it is, with what is needed to change it. */
export interface ProjectState {
  readonly project: ProjectShape;
  /** The paths of the secrets that the project has. */
  readonly secrets: ReadonlySet<string>;
  /** Ids by name. */
  readonly templateIds: ReadonlyMap<string, string>;
  /** Ids in the order of `project.webhooks`. */
  readonly webhookIds: readonly string[];
  /** How many documents a collection has; `null` if its database is unavailable. */
  readonly documents: ReadonlyMap<string, number | null>;
}

interface CollectionRecord extends JsonObject {
  readonly name: string;
  readonly documents: number | null;
}

interface TemplateRecord extends JsonObject {
  readonly _id: string;
  readonly name: string;
  readonly builtIn: boolean;
}

interface WebhookRecord extends JsonObject {
  readonly _id: string;
}

const parallel = 4;

/** Maps with a few calls at a time, so that a large project does not exceed the rate limit. */
const mapConcurrent = async <T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
};

/** Reads everything that a schema file describes. */
export const loadProjectState = async (linked: Linked): Promise<ProjectState> => {
  const { dashboard, path } = linked;
  const record = await getProject(linked);
  const collections = await dashboard.list<CollectionRecord>(`${path}/collections`);
  const indexes = await mapConcurrent(collections, ({ name }) =>
    dashboard.list<IndexShape>(`${path}/collections/${encodeURIComponent(name)}/indexes`),
  );
  const own = (await dashboard.list<TemplateRecord>(`${path}/mail/templates`)).filter(({ builtIn }) => !builtIn);
  const templates = await mapConcurrent(own, ({ _id }) =>
    dashboard.get<TemplateRecord>(`${path}/mail/templates/${_id}`),
  );
  const webhooks = (await dashboard.list<WebhookRecord>(`${path}/webhooks`))
    .map((webhook) => ({ id: webhook._id, shape: canonicalWebhook(webhook) }))
    .sort((one, other) => (meaningOf(one.shape) < meaningOf(other.shape) ? -1 : 1));
  return {
    project: {
      collections: sorted(
        Object.fromEntries(
          collections.map((raw, at) => [raw.name, canonicalCollection(raw.name, { ...raw, indexes: indexes[at] })]),
        ),
      ),
      settings: canonicalSettings({ ...record, socialProviders: providersOf(record) }),
      templates: sorted(Object.fromEntries(templates.map((raw) => [raw.name, canonicalTemplate(raw)]))),
      webhooks: webhooks.map(({ shape }): WebhookShape => shape),
    },
    secrets: secretsOf(record),
    templateIds: new Map(templates.map(({ name, _id }) => [name, _id])),
    webhookIds: webhooks.map(({ id }) => id),
    documents: new Map(collections.map(({ name, documents }) => [name, documents])),
  };
};
