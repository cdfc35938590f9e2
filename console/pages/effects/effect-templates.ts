import type { Collection, EffectInput, Field } from '../../../shared/collections/collection.ts';
import {
  copied,
  fieldNamed,
  fieldsOf,
  named,
  type Option,
  pathsOf,
  receiversOf,
  refsOf,
  same,
  schemaOf,
  type TemplateSources,
  targetOf,
} from './template-sources.ts';

/** The templates of effects, in the order of the page. */
export const templateIds = ['copy', 'total', 'counter', 'stock', 'mail', 'at'] as const;
export type TemplateId = (typeof templateIds)[number];

export type Values = Readonly<Record<string, string>>;
/** A question of a template. One without options takes a typed value. */
interface Question {
  readonly name: string;
  readonly options?: readonly Option[];
  /** The option that is chosen at first, instead of the first one. */
  readonly start?: string | undefined;
  readonly type?: 'email';
}

const quantities = ['quantity', 'qty', 'amount', 'count', 'number'] as const;

const events: readonly Option[] = [
  ['create', 'created'],
  ['create update', 'createdOrUpdated'],
];

const mailEvents: readonly Option[] = [
  ['create', 'created'],
  ['update', 'updated'],
];

const onOf = ({ on = 'create' }: Values): unknown => (on.includes(' ') ? on.split(' ') : on);

const toOf = ({ to = 'user', address = '' }: Values): unknown => {
  const [kind, field = ''] = to.split(' ');
  if (kind === 'emailOf') return { $emailOf: field };
  if (kind === 'doc') return { $doc: field, open: true };
  return kind === 'address' ? address : { $user: 'email' };
};

/** A write that changes a number of the document that a Ref leads to. */
const changing = (sources: TemplateSources, { ref = '', field = '' }: Values, by: unknown) => ({
  op: 'update',
  collection: targetOf(sources, ref)?.name ?? '',
  id: { $doc: ref },
  changes: { $inc: { [field]: by } },
});

/** The conditions of a counter: a Boolean or a field with allowed values is, or is not, a value. */
const conditions = ({ collection }: TemplateSources): readonly Option[] => {
  const choices = schemaOf(collection).flatMap(({ key, type, enum: allowed }) =>
    (type === 'Boolean' ? ['true'] : (allowed ?? [])).map((value) => `${key} ${value}`),
  );
  return choices.flatMap((choice) => [`is ${choice}`, `not ${choice}`]).map((option) => [option, option]);
};

/** A condition and its opposite; `undefined` for all documents. */
const conditionOf = (sources: TemplateSources, { only = '' }: Values): readonly [object, object] | undefined => {
  const [kind, key = '', ...rest] = only.split(' ');
  if (key === '') return undefined;
  const value = literalOf(fieldNamed(sources, key), rest.join(' '));
  const [is, isNot] = [{ [key]: value }, { [key]: { $ne: value } }];
  return kind === 'is' ? [is, isNot] : [isNot, is];
};

/** Effects that count the documents with a reference, also when the reference or the condition changes. */
const counting = (sources: TemplateSources, values: Values): readonly EffectInput[] => {
  const { ref = '' } = values;
  const [add, take] = [changing(sources, values, 1), changing(sources, values, -1)];
  const takeOld = { ...take, id: { $stored: ref } };
  const isOther = { [ref]: { $ne: { $stored: ref } } };
  const condition = conditionOf(sources, values);
  const follows = values.change !== 'keep' || condition !== undefined;
  const isRequired = fieldNamed(sources, ref)?.required === true;
  if (isRequired && !condition) {
    const always: readonly EffectInput[] = [
      { on: 'create', writes: [add] },
      { on: 'delete', writes: [take] },
    ];
    return follows ? [...always, { on: 'update', where: { after: isOther }, writes: [takeOld, add] }] : always;
  }
  const [fits, fitsNot] = condition ?? [{}, {}];
  const has = isRequired ? fits : { [ref]: { $ne: null }, ...fits };
  const lacks = !condition ? { [ref]: null } : isRequired ? fitsNot : { $or: [{ [ref]: null }, fitsNot] };
  const always: readonly EffectInput[] = [
    { on: 'create', where: has, writes: [add] },
    { on: 'delete', where: has, writes: [take] },
  ];
  if (!follows) return always;
  return [
    ...always,
    { on: 'update', where: { before: has, after: { $and: [has, isOther] } }, writes: [takeOld, add] },
    { on: 'update', where: { before: lacks, after: has }, writes: [add] },
    { on: 'update', where: { before: has, after: lacks }, writes: [takeOld] },
  ];
};

interface Template {
  /** The questions, whose options may depend on earlier answers. */
  readonly questions: (sources: TemplateSources, values: Values) => readonly Question[];
  readonly make: (sources: TemplateSources, values: Values) => readonly EffectInput[];
}

/** A typed value as one of the field's type. The service rejects a text that is no number. */
const literalOf = (field: Field | undefined, text: string): unknown => {
  if (field?.type === 'Number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  return field?.type === 'Boolean' ? text === 'true' : text;
};

const calculations: Readonly<Record<string, string>> = { '×': '$multiply', '+': '$add', '−': '$subtract' };

const templates: Readonly<Record<TemplateId, Template>> = {
  copy: {
    questions: (sources, { from }) => {
      const all = copied(sources);
      const fitting = all.filter(([, , into]) => into.length > 0);
      const [, key = '', into = []] = all.find(([path]) => path === from) ?? [];
      return [
        {
          name: 'from',
          options: same((fitting.length > 0 ? fitting : all).map(([path]) => path)),
          start: fitting.find(([, name, fields]) => fields.includes(name))?.[0],
        },
        { name: 'to', options: same(into), start: into.includes(key) ? key : undefined },
        { name: 'on', options: events },
      ];
    },
    make: (_sources, { from = '', to = '', ...rest }) => [{ on: onOf(rest), set: { [to]: { $doc: from } } }],
  },
  total: {
    questions: (sources, { to }) => {
      const numbers = pathsOf(sources, 'Number').filter((path) => path !== to);
      const own = fieldsOf(sources.collection, 'Number');
      return [
        { name: 'to', options: same(own), start: named(own, 'total', 'amount', 'sum') },
        { name: 'first', options: same(numbers), start: named(numbers, 'price') },
        { name: 'sign', options: same(Object.keys(calculations)) },
        { name: 'second', options: same(numbers.toReversed()), start: named(numbers, ...quantities) },
        { name: 'on', options: events },
      ];
    },
    make: (_sources, { to = '', first = '', sign = '×', second = '', ...rest }) => [
      { on: onOf(rest), set: { [to]: { [calculations[sign] ?? '$add']: [{ $doc: first }, { $doc: second }] } } },
    ],
  },
  counter: {
    questions: (sources, { ref, only = '' }) => {
      const numbers = fieldsOf(targetOf(sources, ref), 'Number');
      const offered = conditions(sources);
      const change: Question = {
        name: 'change',
        options: [
          ['follow', 'movesCount'],
          ['keep', 'keepsCount'],
        ],
      };
      return [
        { name: 'ref', options: same(refsOf(sources)) },
        { name: 'field', options: same(numbers), start: named(numbers, 'count', 'number') },
        ...(offered.length > 0 ? [{ name: 'only', options: [['', 'allOfThem'] as const, ...offered] }] : []),
        // A count with a condition would become wrong if it stayed with the old document.
        ...(only === '' ? [change] : []),
      ];
    },
    make: (sources, values) => counting(sources, values),
  },
  stock: {
    questions: (sources, { ref }) => {
      const numbers = fieldsOf(targetOf(sources, ref), 'Number');
      const own = fieldsOf(sources.collection, 'Number');
      return [
        { name: 'ref', options: same(refsOf(sources)) },
        { name: 'field', options: same(numbers), start: named(numbers, 'stock', 'quantity', 'available') },
        { name: 'by', options: [...same(own), ['1', 'one']], start: named(own, ...quantities) ?? '1' },
        {
          name: 'back',
          options: [
            ['yes', 'givesBack'],
            ['no', 'keeps'],
          ],
        },
      ];
    },
    make: (sources, values) => {
      const { by = '1', back } = values;
      const amount = by === '1' ? 1 : { $doc: by };
      const taken = { on: 'create', writes: [changing(sources, values, by === '1' ? -1 : { $minus: amount })] };
      return back === 'no' ? [taken] : [taken, { on: 'delete', writes: [changing(sources, values, amount)] }];
    },
  },
  mail: {
    questions: (sources, { to }) => [
      { name: 'template', options: same(sources.mails) },
      { name: 'to', options: receiversOf(sources) },
      ...(to === 'address' ? [{ name: 'address', type: 'email' as const }] : []),
      { name: 'on', options: mailEvents },
    ],
    make: (_sources, { template = '', ...values }) => [{ on: onOf(values), mail: { template, to: toOf(values) } }],
  },
  at: {
    questions: (sources, { to }) => {
      const field = fieldNamed(sources, to);
      const choices = field?.type === 'Boolean' ? ['true', 'false'] : field?.enum?.map(String);
      return [
        { name: 'field', options: same(fieldsOf(sources.collection, 'Date')) },
        { name: 'to', options: same(fieldsOf(sources.collection, 'Boolean', 'String', 'Number')) },
        { name: 'value', ...(choices && { options: same(choices) }) },
      ];
    },
    make: (sources, { field = '', to = '', value = '' }) => [
      { at: field, set: { [to]: literalOf(fieldNamed(sources, to), value) } },
    ],
  },
};

/** The answers with the usual option in place of one that is not offered, and the questions that they lead to. */
const answered = ({ questions }: Template, sources: TemplateSources, given: Values) => {
  let values: Values = {};
  let asked: readonly Question[] = questions(sources, values);
  for (let at = 0; at < asked.length; at += 1) {
    const { name, options, start } = asked[at] as Question;
    const value = given[name] ?? '';
    const isOffered = !options || options.some(([option]) => option === value);
    values = { ...values, [name]: isOffered ? value : (start ?? options?.[0]?.[0] ?? '') };
    asked = questions(sources, values);
  }
  return { values, asked };
};

/** A field that a template would need, and its collection. */
interface NewField {
  readonly collection: Collection;
  readonly field: Pick<Field, 'key' | 'type' | 'ref' | 'items' | 'fields' | 'min'>;
}

/** The key, or the key after a prefix if the collection has such a field. */
const freeKey = (collection: Collection, key: string, prefix: string): string =>
  schemaOf(collection).some((field) => field.key === key) ? `${prefix}${key[0]?.toUpperCase()}${key.slice(1)}` : key;

const withField = (collection: Collection | undefined, field: NewField['field']): NewField | undefined =>
  collection && !schemaOf(collection).some(({ key }) => key === field.key) ? { collection, field } : undefined;

/** The field to add for the value of a copied one, or the number that a template lacks. */
const newFieldOf = (
  id: TemplateId,
  sources: TemplateSources,
  { ref, from = '' }: Values,
  lacks: string | undefined,
): NewField | undefined => {
  const { collection } = sources;
  const target = targetOf(sources, ref);
  if (id === 'copy') {
    const [via = '', name] = from.split('.');
    const source = targetOf(sources, via);
    const field = source && schemaOf(source).find(({ key }) => key === name);
    if (!field) return undefined;
    const { key, type, ref: to, items, fields } = field;
    const more = { ...(to && { ref: to }), ...(items && { items }), ...(fields && { fields }) };
    return withField(collection, { key: freeKey(collection, key, via), type, ...more });
  }
  if (id === 'total' && lacks === 'to') return withField(collection, { key: 'total', type: 'Number' });
  if (lacks !== 'field') return undefined;
  if (id === 'counter') return withField(target, { key: `${collection.name}Count`, type: 'Number' });
  return id === 'stock' ? withField(target, { key: 'stock', type: 'Number', min: 0 }) : undefined;
};

/** A template as far as it is filled in. */
export interface FilledTemplate {
  readonly questions: readonly (Question & { readonly value: string })[];
  /** The first question without a possible answer; `undefined` if each has one. */
  readonly lacks: string | undefined;
  readonly effects: readonly EffectInput[];
  /** A field that can be added for it. */
  readonly newField: NewField | undefined;
}

export const fillTemplate = (id: TemplateId, sources: TemplateSources, given: Values): FilledTemplate => {
  const template = templates[id];
  const { values, asked } = answered(template, sources, given);
  const lacks = asked.find(({ options }) => options?.length === 0)?.name;
  return {
    questions: asked.map((question) => ({ ...question, value: values[question.name] ?? '' })),
    lacks,
    effects: template.make(sources, values),
    newField: newFieldOf(id, sources, values, lacks),
  };
};

/** The number that a template changes, if it may become negative because it has no `min`. */
export const unbounded = (id: TemplateId, sources: TemplateSources, { ref, field }: Values): string | undefined => {
  if (id !== 'stock') return undefined;
  const target = targetOf(sources, ref);
  const number = target && schemaOf(target).find(({ key }) => key === field);
  return number && number.min === undefined ? `${target.name}.${number.key}` : undefined;
};
