import { useRoute } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { useQuery } from '../../api/query.ts';
import type { Query } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Choose } from '../../ui/choose.tsx';
import { Combobox, useTyped } from '../../ui/combobox.tsx';
import { isId } from '../../ui/places.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { idIn, nameOf } from './ref-address.ts';
import { enforcedFields } from './shown-fields.ts';

interface Props {
  readonly collectionName: string;
  readonly onChoose: (id: string) => void;
}

const mostShown = 10;

const longestPattern = 128;

/** Matches the text anywhere, in any case unless the text is too long for a pattern. */
const containing = (text: string): object => {
  const pattern = `(?i)${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`;
  return pattern.length > longestPattern ? { $contains: text } : { $regex: pattern };
};

/** The list for a text: by id, by search if the collection has one, otherwise by any text field. */
const queryFor = (rules: readonly Field[], text: string): Query => {
  const limit = mostShown;
  if (text === '') return { limit };
  if (isId(text)) return { limit, _id: text };
  if (rules.some(({ searchable }) => searchable)) return { limit, search: text };
  const fields = rules.filter(({ type }) => type === 'String');
  if (fields.length === 0) return { limit };
  return { limit, where: JSON.stringify({ $or: fields.map(({ key }) => ({ [key]: containing(text) })) }) };
};

const Documents = ({ rules, collectionName, onChoose }: Props & { readonly rules: readonly Field[] }) => {
  const { projectId = '' } = useRoute().params;
  const { typed, settled } = useTyped();
  const place = { projectId, collectionName };
  const { data, problem } = useQuery('list-project-documents', {
    ...place,
    query: queryFor(rules, settled.value),
  }).value;
  const items = data && 'items' in data ? data.items : undefined;
  const found = items?.flatMap((document) => {
    const id = idIn(document);
    return id === undefined ? [] : [{ id, label: nameOf(document), note: <span class="mono muted">{id}</span> }];
  });
  return (
    <>
      <Combobox
        label={t.documents.chooseOf(collectionName)}
        hint={t.documents.chooseHint}
        typed={typed}
        found={found}
        onChoose={({ id }) => onChoose(id)}
      />
      {problem && <ProblemNote problem={problem} />}
    </>
  );
};

const Choosing = (props: Props) => {
  const { projectId = '' } = useRoute().params;
  const { collectionName } = props;
  const { data: collection, problem } = useQuery('get-collection', { projectId, collectionName }).value;
  if (problem) return <ProblemNote problem={problem} />;
  // Drawn before the fields are known, so that the opening dialog focuses its text field.
  return <Documents rules={collection ? enforcedFields(collection) : []} {...props} />;
};

/** Chooses the document of a reference by searching, instead of typing its id. */
export const RefPicker = ({ collectionName, onChoose }: Props) => (
  <Choose kind="plain" title={t.documents.chooseOf(collectionName)} act={t.documents.choose} onChoose={onChoose}>
    {(choose) => <Choosing collectionName={collectionName} onChoose={choose} />}
  </Choose>
);
