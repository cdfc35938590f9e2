import { settingsStep } from './apply-settings.ts';
import { type CollectionShape, type FieldShape, isObject, type JsonObject, nameOfIndex } from './canonical.ts';
import type { Difference } from './differences.ts';
import type { Linked } from './linked-project.ts';
import type { ProjectState } from './project-state.ts';
import type { SchemaFile } from './schema-file.ts';
import { runSteps, type Step } from './steps.ts';
import type { Terminal } from './terminal.ts';

export interface Push {
  readonly linked: Linked;
  readonly state: ProjectState;
  readonly file: SchemaFile;
  readonly env: Terminal['env'];
}

/** What a push did, and what it could not set. */
interface Outcome {
  readonly notSet: readonly string[];
}

/** All options of row security, because an edit keeps those that it leaves out. */
const rlsOf = ({ rls }: CollectionShape): JsonObject => {
  if (!rls) return { enabled: false };
  const { rules, ...options } = rls;
  const byRules = rls.mode === 'rules';
  return {
    mode: 'public-read',
    ownerField: byRules ? '' : 'userId',
    trash: 'everyone',
    requires: 'none',
    ...options,
    ...(byRules && { rules: rules ?? {} }),
  };
};

const absent: JsonObject = { searchLanguage: 'none', closed: false, changes: false, unique: null, effects: [] };

/** The members that the body of an edit needs to make the one collection the other. */
const changesOf = (before: CollectionShape, now: CollectionShape): JsonObject => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = names.filter(
    (name) => name !== 'indexes' && JSON.stringify(before[name]) !== JSON.stringify(now[name]),
  );
  return Object.fromEntries(
    changed.map((name) => [name, name === 'rls' ? rlsOf(now) : (now[name] ?? absent[name] ?? null)]),
  );
};

/** A collection that no publishable key can reach until its rules are set. */
const closedRls = { enabled: true, mode: 'rules', ownerField: '', trash: 'everyone', requires: 'none', rules: {} };

const withoutRules = (field: FieldShape): FieldShape => ({
  ...field,
  ...(isObject(field.write) && { write: 'server' }),
  ...(isObject(field.read) && { read: 'server' }),
  ...(field.items && { items: withoutRules(field.items) }),
  ...(field.fields && { fields: field.fields.map(withoutRules) }),
});

const pathOf = ({ linked }: Push, collection: string): string =>
  `${linked.path}/collections/${encodeURIComponent(collection)}`;

const bodyOf = (collection: CollectionShape): JsonObject => {
  const { indexes: _indexes, ...body } = { ...collection, rls: rlsOf(collection) };
  return body;
};

const createStep = (push: Push, { name }: Difference): Step => {
  const { linked, file } = push;
  const wanted = file.project.collections[name] as CollectionShape;
  const create = (body: JsonObject) => linked.dashboard.call('POST', `${linked.path}/collections`, { name, ...body });
  let isCreated = false;
  return {
    label: `create collection ${name}`,
    run: async () => {
      if (isCreated) await linked.dashboard.call('PUT', pathOf(push, name), bodyOf(wanted));
      else await create(bodyOf(wanted));
      isCreated = true;
    },
    unblock: async () => {
      const { changes, closed } = wanted;
      const rls = name === 'users' ? undefined : closedRls;
      await create({ schema: wanted.schema?.map(withoutRules) ?? null, rls, changes, closed });
      isCreated = true;
    },
  };
};

const merged = (before: readonly FieldShape[], now: readonly FieldShape[]): readonly FieldShape[] => {
  const keys = new Set(now.map(({ key }) => key));
  return [...now, ...before.filter(({ key }) => !keys.has(key)).map((field) => ({ ...field, required: false }))];
};

const updateStep = (push: Push, { name }: Difference): Step => {
  const { linked, state, file } = push;
  const [before, now] = [state.project.collections[name], file.project.collections[name]] as [
    CollectionShape,
    CollectionShape,
  ];
  const edit = (body: JsonObject) => linked.dashboard.call('PUT', pathOf(push, name), body);
  const { schema: old } = before;
  const { schema: next } = now;
  return {
    label: `update collection ${name}`,
    run: async () => {
      const changes = changesOf(before, now);
      if (Object.keys(changes).length > 0) await edit(changes);
    },
    // Rules of other collections may name the fields of both schemas.
    ...(old && next && { unblock: async () => void (await edit({ schema: merged(old, next) })) }),
  };
};

const deleteStep = (push: Push, { name }: Difference): Step => {
  const { linked, state } = push;
  const { schema } = state.project.collections[name] as CollectionShape;
  return {
    label: `delete collection ${name}`,
    run: async () => void (await linked.dashboard.call('DELETE', pathOf(push, name))),
    // Rules and effects of collections that are deleted together may name each other.
    unblock: async () => {
      const fields = schema?.map(withoutRules) ?? null;
      await linked.dashboard.call('PUT', pathOf(push, name), {
        schema: fields,
        unique: null,
        effects: null,
        rls: closedRls,
      });
    },
  };
};

const dropIndexStep = (push: Push, { name, collection = '' }: Difference): Step => ({
  label: `delete index ${name} of ${collection}`,
  run: async () =>
    void (await push.linked.dashboard.call(
      'DELETE',
      `${pathOf(push, collection)}/indexes/${encodeURIComponent(name)}`,
    )),
});

const createIndexStep = (push: Push, { name, collection = '' }: Difference): Step => ({
  label: `create index ${name} of ${collection}`,
  run: async () => {
    const index = push.file.project.collections[collection]?.indexes?.find((each) => nameOfIndex(each) === name);
    await push.linked.dashboard.call('POST', `${pathOf(push, collection)}/indexes`, index);
  },
});

const templateStep = ({ linked, state, file }: Push, { action, name }: Difference): Step => {
  const path = `${linked.path}/mail/templates`;
  const id = state.templateIds.get(name);
  const body = { name, key: null, html: null, text: null, ...file.project.templates[name] };
  const run = async (): Promise<void> => {
    if (action === 'create') await linked.dashboard.call('POST', path, body);
    else if (action === 'delete') await linked.dashboard.call('DELETE', `${path}/${id}`);
    else await linked.dashboard.call('PUT', `${path}/${id}`, body);
  };
  return { label: `${action} template ${name}`, run };
};

const webhookStep = (
  { linked, state }: Push,
  { action, name, at = 0, webhook }: Difference,
  notSet: string[],
): Step => {
  const path = `${linked.path}/webhooks`;
  const body = { collections: null, enabled: true, ...webhook };
  const run = async (): Promise<void> => {
    const id = state.webhookIds[at];
    if (action === 'delete') await linked.dashboard.call('DELETE', `${path}/${id}`);
    else if (action === 'update') await linked.dashboard.call('PATCH', `${path}/${id}`, body);
    else {
      await linked.dashboard.call('POST', path, body);
      notSet.push(
        `webhook ${name}: its receiver needs the secret. Rotate the secret in the console, which shows the new one`,
      );
    }
  };
  return { label: `${action} webhook ${name}`, run };
};

/**
 * Applies the differences. What is deleted last can be missed by nothing: indexes that are no longer wanted go first,
 * collections last. Returns what could not be set. `allSecrets` also sends secrets that the project has.
 */
export const applyDifferences = async (
  push: Push,
  differences: readonly Difference[],
  { allSecrets, onDone }: { readonly allSecrets: boolean; readonly onDone: (label: string) => void },
): Promise<Outcome> => {
  const notSet: string[] = [];
  const of = (kind: Difference['kind'], ...actions: readonly Difference['action'][]) =>
    differences.filter((each) => each.kind === kind && actions.includes(each.action));
  const settings = settingsStep(push, differences, notSet, allSecrets);
  const phases: readonly (readonly Step[])[] = [
    of('index', 'delete').map((each) => dropIndexStep(push, each)),
    [
      ...of('collection', 'create').map((each) => createStep(push, each)),
      ...of('collection', 'update').map((each) => updateStep(push, each)),
    ],
    of('index', 'create').map((each) => createIndexStep(push, each)),
    [...of('template', 'delete'), ...of('template', 'create', 'update')].map((each) => templateStep(push, each)),
    [...of('webhook', 'delete'), ...of('webhook', 'create', 'update')].map((each) => webhookStep(push, each, notSet)),
    settings ? [settings] : [],
    of('collection', 'delete').map((each) => deleteStep(push, each)),
  ];
  for (const steps of phases) await runSteps(steps, ({ label }) => onDone(label));
  return { notSet };
};
