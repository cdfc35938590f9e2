import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type CollectionShape,
  canonicalCollection,
  canonicalSettings,
  canonicalTemplate,
  canonicalWebhooks,
  collectionMembers,
  isObject,
  type JsonObject,
  type ProjectShape,
  settingDefaults,
  sorted,
  type TemplateShape,
} from './canonical.ts';
import { fill, keepPlaceholders, type Secrets, splitSecrets, suggestedVariable, withSecrets } from './placeholders.ts';
import type { ProjectState } from './project-state.ts';
import { CommandError, type Terminal } from './terminal.ts';

export const schemaName = 'basalt.schema.json';

/** Editors that find the installed package complete and check the file with this. */
const editorSchema = './node_modules/@basalt/cli/dist/schema.json';

/** What a file says: the project that it describes, and which variables have its secrets. */
export interface SchemaFile {
  readonly project: ProjectShape;
  readonly secrets: Secrets;
}

const requireObject = (value: unknown, path: string): JsonObject => {
  if (isObject(value)) return value;
  throw new CommandError(`${path} must be an object.`);
};

const requireKnown = (object: JsonObject, path: string, known: readonly string[]): void => {
  const other = Object.keys(object).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw new CommandError(`${path ? `${path}.` : ''}${other} is not known. Known are ${known.join(', ')}.`);
};

const optionalObject = (value: unknown, path: string): JsonObject => (value == null ? {} : requireObject(value, path));

const settingNames = [...Object.keys(settingDefaults), 'socialProviders', 'providerApiKey', 'providerWebhookSecret'];

const requireFields = (value: unknown, path: string): void => {
  if (!Array.isArray(value)) throw new CommandError(`${path} must be a list of fields, or null for any JSON object.`);
  for (const [index, field] of value.entries()) {
    const { key, type, fields, items } = requireObject(field, `${path}.${index}`);
    if (typeof key !== 'string' || typeof type !== 'string') {
      throw new CommandError(`${path}.${index} needs key and type, such as {"key": "title", "type": "String"}.`);
    }
    if (fields != null) requireFields(fields, `${path}.${key}.fields`);
    if (items != null) requireItems(items, `${path}.${key}.items`);
  }
};

const requireItems = (value: unknown, path: string): void => {
  const { type, fields, items } = requireObject(value, path);
  if (typeof type !== 'string') throw new CommandError(`${path} needs type, such as {"type": "String"}.`);
  if (fields != null) requireFields(fields, `${path}.fields`);
  if (items != null) requireItems(items, `${path}.items`);
};

const parseCollection = (name: string, value: unknown): CollectionShape => {
  const path = `collections.${name}`;
  const raw = requireObject(value, path);
  requireKnown(raw, path, collectionMembers);
  if (raw.schema != null) requireFields(raw.schema, `${path}.schema`);
  if (
    raw.unique != null &&
    !(Array.isArray(raw.unique) && raw.unique.every((list) => typeof list === 'object' && list))
  ) {
    throw new CommandError(`${path}.unique must be a list, such as [["name", "city"]].`);
  }
  const indexes: readonly unknown[] = Array.isArray(raw.indexes) ? raw.indexes : [];
  if (
    (raw.indexes != null && !Array.isArray(raw.indexes)) ||
    !indexes.every((index) => isObject(index) && isObject(index.keys))
  ) {
    throw new CommandError(`${path}.indexes must be a list, such as [{"keys": {"views": -1}}].`);
  }
  return canonicalCollection(name, raw);
};

const parseTemplate = (name: string, value: unknown): TemplateShape => {
  const path = `templates.${name}`;
  const raw = requireObject(value, path);
  requireKnown(raw, path, ['key', 'subject', 'html', 'text']);
  if (typeof raw.subject !== 'string') throw new CommandError(`${path}.subject must be a text.`);
  return canonicalTemplate(raw);
};

const parseWebhooks = (value: unknown, env: Terminal['env']): readonly JsonObject[] => {
  if (value == null) return [];
  if (!Array.isArray(value)) throw new CommandError('webhooks must be a list.');
  return value.map((webhook, index) => {
    const path = `webhooks.${index}`;
    const raw = requireObject(webhook, path);
    requireKnown(raw, path, ['url', 'events', 'collections', 'enabled']);
    if (typeof raw.url !== 'string') throw new CommandError(`${path}.url must be a text.`);
    return requireObject(fill(raw, env, path), path);
  });
};

/** Parses the text of a schema file. `env` has the values of its placeholders. */
export const parseSchemaFile = (text: string, env: Terminal['env']): SchemaFile => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`The file is not valid JSON: ${(error as Error).message}`);
  }
  const raw = requireObject(value, 'The file');
  requireKnown(raw, '', ['$schema', 'version', 'collections', 'settings', 'templates', 'webhooks']);
  if (raw.version !== 1) throw new CommandError('version must be 1.');
  const given = optionalObject(raw.settings, 'settings');
  requireKnown(given, 'settings', settingNames);
  const { settings, secrets } = splitSecrets(given);
  const collections = Object.entries(requireObject(raw.collections, 'collections'));
  const templates = Object.entries(optionalObject(raw.templates, 'templates'));
  return {
    project: {
      collections: sorted(Object.fromEntries(collections.map(([name, one]) => [name, parseCollection(name, one)]))),
      settings: canonicalSettings(requireObject(fill(settings, env, 'settings'), 'settings')),
      templates: sorted(Object.fromEntries(templates.map(([name, one]) => [name.trim(), parseTemplate(name, one)]))),
      webhooks: canonicalWebhooks(parseWebhooks(raw.webhooks, env)),
    },
    secrets,
  };
};

const unlessEmpty = (name: string, value: object): JsonObject =>
  Object.keys(value).length > 0 ? { [name]: value } : {};

/** The text of a project's file. Placeholders and variables of the file before stay. */
export const schemaText = ({ project, secrets }: ProjectState, before: JsonObject, env: Terminal['env']): string => {
  const settings = optionalObject(before.settings, 'settings');
  const { settings: written, secrets: named } = splitSecrets(settings);
  const variables = new Map([...secrets].sort().map((path) => [path, named.get(path) ?? suggestedVariable(path)]));
  const webhooks: readonly unknown[] = Array.isArray(before.webhooks) ? before.webhooks : [];
  const shown = {
    $schema: before.$schema ?? editorSchema,
    version: 1,
    collections: project.collections,
    ...unlessEmpty(
      'settings',
      withSecrets(requireObject(keepPlaceholders(written, project.settings, env), 'settings'), variables),
    ),
    ...unlessEmpty('templates', project.templates),
    ...unlessEmpty('webhooks', keepWebhooks(webhooks, project.webhooks, env)),
  };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
};

/** Finds the written form of each webhook by its filled-in address. */
const keepWebhooks = (
  written: readonly unknown[],
  webhooks: ProjectShape['webhooks'],
  env: Terminal['env'],
): readonly unknown[] =>
  webhooks.map((webhook) => {
    const same = written.filter(isObject).find((each) => {
      try {
        return canonicalWebhooks([requireObject(fill(each, env, ''), '')])[0]?.url === webhook.url;
      } catch {
        return false;
      }
    });
    return same ? { ...webhook, url: same.url } : webhook;
  });

const load = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
};

/** Reads the file. Errors begin with its name. */
export const readSchemaFile = async (terminal: Terminal, name: string): Promise<SchemaFile> => {
  const text = await load(resolve(terminal.folder, name));
  if (text === undefined) throw new CommandError(`${name} does not exist. Run basalt pull to write it.`);
  try {
    return parseSchemaFile(text, terminal.env);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${name}: ${error.message}`);
  }
};

/** Writes the project's file. Returns false if it had this text already. */
export const writeSchemaFile = async (terminal: Terminal, name: string, state: ProjectState): Promise<boolean> => {
  const path = resolve(terminal.folder, name);
  const before = await load(path);
  let parsed: JsonObject = {};
  if (before !== undefined) {
    try {
      parsed = requireObject(JSON.parse(before), name);
    } catch {
      throw new CommandError(`${name} is not valid JSON, so its placeholders cannot be kept. Correct or delete it.`);
    }
  }
  const text = schemaText(state, parsed, terminal.env);
  if (text === before) return false;
  await writeFile(path, text);
  return true;
};
