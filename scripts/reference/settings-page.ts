import * as v from 'valibot';
import { CollectionChangesBody } from '../../functions/dashboard/collections/schemas.ts';
import { ProjectChangesBody } from '../../functions/dashboard/projects/schemas.ts';
import { settingGroups } from '../../infra/settings/settings.ts';
import { fieldSchemas } from '../../shared/http/openapi/collections.ts';
import { type JsonSchema, jsonSchemaOf } from '../../shared/http/openapi/json-schema.ts';
import { generated } from './generated.ts';

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('<', '\\<');
const code = (value: unknown): string => `\`${String(value)}\``;

const row = (name: string, type: string, about: string): string => `| ${code(name)} | ${type} | ${escaped(about)} |\n`;

const propertiesOf = (schema: JsonSchema): readonly (readonly [name: string, schema: JsonSchema])[] =>
  Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>);

/** `{"anyOf": [{"type": "string"}, {"type": "null"}]}` → `string or null` */
const typeOf = (schema: JsonSchema): string => {
  const options = (schema.anyOf ?? []) as readonly JsonSchema[];
  if (schema.enum) return (schema.enum as readonly unknown[]).map(code).join(', ');
  if (options.length > 0) return [...new Set(options.map(typeOf))].join(' or ');
  if (typeof schema.$ref === 'string') return 'object';
  return [schema.type ?? 'any'].flat().join(' or ');
};

/** A schema that may be null, without that alternative. */
const objectIn = (schema: JsonSchema): JsonSchema =>
  ((schema.anyOf ?? []) as readonly JsonSchema[]).find(({ type }) => type !== 'null') ?? schema;

const rowsOf = (schema: JsonSchema, prefix = ''): string =>
  propertiesOf(objectIn(schema))
    .map(([name, property]) => {
      const path = `${prefix}${name}`;
      const about = String(property.description ?? objectIn(property).description ?? '');
      // Providers differ only in the fields of their registration, which the page on sign-in describes.
      const members = name === 'socialProviders' ? '' : rowsOf(property, `${path}.`);
      return row(path, typeOf(property), about) + members;
    })
    .join('');

const aboutOf = (schema: v.GenericSchema): string => String(v.getMetadata(schema).description ?? '');

const deploymentRows = (entries: Readonly<Record<string, v.GenericSchema>>): string =>
  Object.entries(entries)
    .map(([name, schema]) => {
      const value: unknown = v.getDefault(schema);
      return row(name, value === undefined || value === '' ? '' : code(value), aboutOf(schema));
    })
    .join('');

const table = (heads: string, rows: string): string => `| ${heads} |\n|---|---|---|\n${rows}`;

/** docs/reference/settings.md: settings of projects, collections, fields and deployments, from their schemas. */
export const settingsPage = (): string => `${generated}# Settings

## Project

\`POST\` and \`PATCH /api/projects\` of the dashboard API take these fields.
[Projects](projects.md#projects) has the rules of each.

${table('Field | Type | Meaning', rowsOf(jsonSchemaOf(ProjectChangesBody)))}
## Collection

\`POST …/collections\` and \`PUT …/collections/:name\` take these fields.
[Collections](collections-and-transfers.md) has their rules.

${table('Field | Type | Meaning', rowsOf(jsonSchemaOf(CollectionChangesBody)))}
## Field of a schema

Each entry of \`schema\` has these options.
[The specification](specification.md#collection-schema) has their rules.

${table('Option | Type | Meaning', rowsOf(fieldSchemas.Field))}
## Deployment

\`npm run deploy -- -c name=value\` sets these; [Configure](../operate/configure.md) explains how they are stored.
[Commands](commands.md#settings-of-the-local-service) lists the settings of \`npm start\`.
${Object.entries(settingGroups)
  .map(([heading, entries]) => `\n### ${heading}\n\n${table('Setting | Default | Effect', deploymentRows(entries))}`)
  .join('')}`;
