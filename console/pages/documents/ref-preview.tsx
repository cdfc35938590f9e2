import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { Cell } from './cell.tsx';
import { nameOf } from './ref-address.ts';
import { viewerOf } from './viewer.ts';

interface Target {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
}

/** One request names so many documents. */
const chunk = 100;

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
  const from = Math.floor(Math.max(0, ids.indexOf(id)) / chunk) * chunk;
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

/** The title of a referenced document. Those with the same `ids` share one request. */
export const RefTitle = (props: TitleProps) => {
  const { projectId, collectionName, id } = props;
  const otherwise = 'otherwise' in props ? props.otherwise : <span class="mono">{id}</span>;
  const { data } = useQuery('get-collection', { projectId, collectionName }).value;
  const title = data?.schema ? titleField(data.schema as readonly Field[]) : undefined;
  if (!data || (data.schema && title === undefined)) return otherwise;
  return <Titled {...props} otherwise={otherwise} title={title} />;
};

const mostShown = 8;
const gap = 4;

/** The first fields of a referenced document, beside its link. */
export const RefPreview = ({
  id,
  of,
  name,
  ...place
}: Target & { readonly of: HTMLElement; readonly name: string }) => {
  const box = useRef<HTMLDivElement>(null);
  const viewer = viewerOf(useLocation().query);
  const { data, problem } = useQuery('get-project-document', { ...place, id, query: { view_as: viewer } }).value;
  useLayoutEffect(() => {
    if (!box.current) return;
    box.current.showPopover();
    const { left, top, bottom } = of.getBoundingClientRect();
    const { style, offsetHeight, offsetWidth } = box.current;
    const below = bottom + gap;
    style.top = `${below + offsetHeight > innerHeight ? Math.max(gap, top - gap - offsetHeight) : below}px`;
    style.left = `${Math.max(gap, Math.min(left, innerWidth - offsetWidth - gap))}px`;
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
