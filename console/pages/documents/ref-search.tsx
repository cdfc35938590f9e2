import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { useQuery } from '../../api/query.ts';
import type { Query } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { isId } from '../../ui/places.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { UsersProblem } from '../users/turn-on-accounts.tsx';
import { userName } from '../users/user-name.ts';
import { isUsers, nameOf } from './ref-address.ts';
import { titleField } from './ref-preview.tsx';
import { enforcedFields } from './shown-fields.ts';

/** A document or user that a reference can name. */
export interface Match {
  readonly id: string;
  readonly label: string;
  readonly note: ComponentChildren;
}

interface Props {
  readonly collectionName: string;
  readonly text: string;
  /** Called with the matches of the text, and with `undefined` until they are known. */
  readonly onFound: (found: readonly Match[] | undefined) => void;
}

const limit = 10;

const longestPattern = 128;

/** Matches the text anywhere, in any case unless the text is too long for a pattern. */
const containing = (text: string): object => {
  const pattern = `(?i)${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`;
  return pattern.length > longestPattern ? { $contains: text } : { $regex: pattern };
};

/** The lists for a text, until one is not empty: by id, otherwise by whole words, then by parts of any text field. */
const queriesFor = (rules: readonly Field[], text: string): readonly [Query, ...Query[]] => {
  if (text === '') return [{ limit }];
  if (isId(text)) return [{ limit, _id: text }];
  const fields = rules.filter(({ type }) => type === 'String');
  if (fields.length === 0) return [{ limit }];
  const byPart = { limit, where: JSON.stringify({ $or: fields.map(({ key }) => ({ [key]: containing(text) })) }) };
  return rules.some(({ searchable }) => searchable) ? [{ limit, search: text }, byPart] : [byPart];
};

const matchOf = (id: string, label: string): Match => ({
  id,
  label,
  note: label === id ? null : <span class="mono muted">{id}</span>,
});

/** Passes on what a request has found. */
const useFound = (found: readonly Match[] | undefined, onFound: Props['onFound']): void => {
  // Each render creates a new list, so its texts are compared.
  const ids = found?.map(({ id, label }) => `${id} ${label}`).join('\n');
  useEffect(() => onFound(found), [ids]);
};

const FoundUsers = ({ text, onFound }: Props) => {
  const { projectId = '' } = useRoute().params;
  const by = text === '' ? {} : isId(text) ? { ids: text } : { email: text };
  const { data, problem } = useQuery('list-users', { projectId, query: { limit, ...by } }).value;
  useFound(
    data?.items.map((user) => matchOf(user._id, userName(user))),
    onFound,
  );
  return <UsersProblem projectId={projectId} problem={problem} isEmpty={text === '' && data?.items.length === 0} />;
};

interface ListsProps extends Props {
  readonly title: string | undefined;
  readonly queries: readonly [Query, ...Query[]];
}

const FoundIn = ({ title, queries: [query, next, ...rest], ...props }: ListsProps) => {
  const { collectionName, text, onFound } = props;
  const { projectId = '' } = useRoute().params;
  const { data, problem } = useQuery('list-project-documents', { projectId, collectionName, query }).value;
  const items = data && 'items' in data ? data.items : undefined;
  const isLast = next === undefined || items === undefined || items.length > 0;
  const found = items?.map((document) =>
    matchOf(String(document._id), nameOf(title === undefined ? document : { [title]: document[title], ...document })),
  );
  useFound(isLast ? found : undefined, onFound);
  if (!isLast) return <FoundIn {...props} title={title} queries={[next, ...rest]} />;
  if (problem) return <ProblemNote problem={problem} />;
  return text === '' && items?.length === 0 ? (
    <p class="small">
      {t.documents.refEmpty(collectionName)}{' '}
      <a
        href={`/projects/${projectId}/documents/${encodeURIComponent(collectionName)}?new=1`}
        target="_blank"
        rel="noopener"
      >
        {t.documents.refAdd}
      </a>
    </p>
  ) : null;
};

const FoundDocuments = (props: Props) => {
  const { projectId = '' } = useRoute().params;
  const { collectionName, text } = props;
  const { data, problem } = useQuery('get-collection', { projectId, collectionName }).value;
  if (problem?.code === 'COLLECTION_NOT_FOUND')
    return (
      <p class="small">
        {t.documents.refMissing(collectionName)}{' '}
        <a href={`/projects/${projectId}/new-collection`} target="_blank" rel="noopener">
          {t.documents.refCreate}
        </a>
      </p>
    );
  if (problem) return <ProblemNote problem={problem} />;
  if (!data) return null;
  const rules = enforcedFields(data);
  return <FoundIn {...props} title={titleField(rules)} queries={queriesFor(rules, text)} />;
};

/** Searches the documents or users that a reference can name. Shows only errors. */
export const RefSearch = (props: Props) =>
  isUsers(props.collectionName) ? <FoundUsers {...props} /> : <FoundDocuments {...props} />;
