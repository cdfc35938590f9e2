import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { type Known, useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { showBeside } from '../../ui/floating.ts';
import { userName } from '../users/user-name.ts';
import { Cell } from './cell.tsx';
import { isUsers, nameOf } from './ref-address.ts';
import { viewerOf } from './viewer.ts';

interface Target {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
}

/** One request names so many documents. */
const chunk = 100;

const chunkOf = (id: string, ids: readonly string[]): number =>
  Math.floor(Math.max(0, ids.indexOf(id)) / chunk) * chunk;

const usualNames = ['title', 'name', 'label', 'subject', 'email'];

/** The field that names documents: one with a usual name, otherwise the first text. */
export const titleField = (schema: readonly Field[]): string | undefined => {
  const texts = schema.filter(({ type }) => type === 'String').map(({ key }) => key);
  return usualNames.find((name) => texts.includes(name)) ?? texts[0];
};

interface TitleProps extends Target {
  readonly ids: readonly string[];
  /** Shown without a title, instead of the id. */
  readonly otherwise?: ComponentChildren;
}

const Titled = ({ id, ids, title, otherwise, ...place }: TitleProps & { readonly title: string | undefined }) => {
  const viewer = viewerOf(useLocation().query);
  const from = chunkOf(id, ids);
  const query = {
    where: JSON.stringify({ _id: { $in: ids.slice(from, from + chunk) } }),
    limit: chunk,
    fields: title,
    view_as: viewer,
  };
  const { data } = useQuery('list-project-documents', { ...place, query }).value;
  const found = data && 'items' in data ? data.items.find(({ _id }) => _id === id) : undefined;
  const name = found && nameOf(found);
  return name === undefined || name === id ? otherwise : <span>{name}</span>;
};

const DocumentTitle = (props: TitleProps) => {
  const { projectId, collectionName, otherwise } = props;
  const { data } = useQuery('get-collection', { projectId, collectionName }).value;
  const title = data?.schema ? titleField(data.schema as readonly Field[]) : undefined;
  if (!data || (data.schema && title === undefined)) return otherwise;
  return <Titled {...props} title={title} />;
};

const UserTitle = ({ projectId, id, ids, otherwise }: TitleProps) => {
  const from = chunkOf(id, ids);
  const query = { ids: ids.slice(from, from + chunk).join(), limit: chunk };
  const { data } = useQuery('list-users', { projectId, query }).value;
  const found = data?.items.find(({ _id }) => _id === id);
  const name = found && userName(found);
  return name === undefined || name === id ? otherwise : <span>{name}</span>;
};

/** The title of a referenced document. Those with the same `ids` share one request. */
export const RefTitle = (props: TitleProps) => {
  const otherwise = 'otherwise' in props ? props.otherwise : <span class="mono">{props.id}</span>;
  const Title = isUsers(props.collectionName) ? UserTitle : DocumentTitle;
  return <Title {...props} otherwise={otherwise} />;
};

const mostShown = 8;

interface PreviewProps extends Target {
  readonly of: HTMLElement;
  readonly name: string;
}

const Preview = ({ of, name, known }: PreviewProps & { readonly known: Known<object> }) => {
  const box = useRef<HTMLDivElement>(null);
  const { data, problem } = known;
  useLayoutEffect(() => {
    if (box.current) showBeside(box.current, of);
  }, [of, data]);
  return (
    <div ref={box} id={name} class="menu preview" role="tooltip" popover="manual">
      {data ? (
        <dl class="facts">
          {Object.entries(data)
            .slice(0, mostShown)
            .map(([key, value]) => (
              <div key={key}>
                <dt class="mono">{key}</dt>
                <dd dir="auto">
                  <Cell value={value} />
                </dd>
              </div>
            ))}
        </dl>
      ) : (
        <span class="muted">{problem ? problem.message : t.loading}</span>
      )}
    </div>
  );
};

const DocumentPreview = (props: PreviewProps) => {
  const { projectId, collectionName, id } = props;
  const viewer = viewerOf(useLocation().query);
  const query = { view_as: viewer };
  return (
    <Preview {...props} known={useQuery('get-project-document', { projectId, collectionName, id, query }).value} />
  );
};

const UserPreview = (props: PreviewProps) => {
  const { projectId, id } = props;
  return <Preview {...props} known={useQuery('get-user', { projectId, id }).value} />;
};

/** The first fields of a referenced document or user, beside its link. */
export const RefPreview = (props: PreviewProps) =>
  isUsers(props.collectionName) ? <UserPreview {...props} /> : <DocumentPreview {...props} />;
