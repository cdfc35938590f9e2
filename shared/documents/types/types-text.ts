import type { Collection } from '../../collections/collection.ts';
import { activeCollections } from '../../collections/control-collections.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { fitsAnswer } from '../../core/answer-size.ts';
import type { Project } from '../../projects/project.ts';
import { preamble, publicUser } from './preamble.ts';
import { answeredFields, insertedFields, shownFields } from './shown-fields.ts';
import { changeLines, conditionsText, fieldText, refLines } from './type-text.ts';

const block = (lines: readonly string[]): string => `{${lines.map((line) => `\n      ${line};`).join('')}\n    }`;

const anything = [
  'document: Written & JsonObject',
  'insert: JsonObject',
  'update: JsonObject',
  'filter: AnyWhere',
  'refs: {}',
];

/**
 * What a reference to a collection may be replaced with: of users what anybody may see, and nothing of one that is
 * gone.
 */
const targetText = (name: string, names: ReadonlySet<string>): string => {
  if (!names.has(name)) return 'null';
  return name === usersCollection ? 'PublicUser' : `Schema['${name}']['document']`;
};

const linesOf = (collection: Collection, names: ReadonlySet<string>): readonly string[] => {
  if (!collection.schema) return anything;
  const shown = shownFields(collection);
  const verified = collection.name === usersCollection ? ['readonly emailVerified: boolean'] : [];
  return [
    `document: Written & ${block([...answeredFields(collection).map(fieldText), ...verified])}`,
    `insert: ${block(insertedFields(collection).map(fieldText))}`,
    `update: ${block(shown.flatMap(changeLines))}`,
    `filter: Where<WrittenWhere & ${conditionsText(shown, block)}>`,
    `refs: ${block(refLines(shown, (name) => targetText(name, names)))}`,
  ];
};

const entryText = (collection: Collection, names: ReadonlySet<string>): string =>
  `  '${collection.name}': {${linesOf(collection, names)
    .map((line) => `\n    ${line};`)
    .join('')}\n  };\n`;

/**
 * The collections of a project as TypeScript: `export interface Schema { '<name>': {document, insert, update, filter,
 * refs} }` without imports, equal for equal collections, and good under `strict` for any schema (contract 2, "Types").
 * Ends once it is larger than an answer can be, which its answer refuses.
 */
export const typesText = (collections: readonly Collection[]): string => {
  const names = new Set(collections.map(({ name }) => name));
  let text = `${preamble}${names.has(usersCollection) ? publicUser : ''}\nexport interface Schema {\n`;
  for (const collection of collections.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (fitsAnswer(text)) text += entryText(collection, names);
  }
  return `${text}}\n`;
};

/** The collections of a project as TypeScript, as they are now. */
export const getTypes = async (project: Project): Promise<string> => typesText(await activeCollections(project));
