import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Field } from '../../../shared/collections/collection.ts';
import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { Cell } from './cell.tsx';
import { nameOf } from './ref-address.ts';

interface Target {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
}

/** One request names so many documents. */
const chunk = 100;

const usualNames = ['title', 'name', 'label', 'subject', 'email'];

/** The field that names documents: one with a usual name, otherwise the first text. */
const titleField = (schema: readonly Field[]): string | undefined => {
  const texts = schema.filter(({ type }) => type === 'String').map(({ key }) => key);
  return usualNames.find((name) => texts.includes(name)) ?? texts[0];
};

const Titled = ({
  id,
  ids,
  title,
  ...place
}: Target & { readonly ids: readonly string[]; readonly title: string | undefined }) => {
  const from = Math.floor(Math.max(0, ids.indexOf(id)) / chunk) * chunk;
  const query = {
    where: JSON.stringify({ _id: { $in: ids.slice(from, from + chunk) } }),
    limit: chunk,
    fields: title,
  };
  const { data } = useQuery('list-project-documents', { ...place, query }).value;
  const found = data && 'items' in data ? data.items.find(({ _id }) => _id === id) : undefined;
  const name = found && nameOf(found);
  return name === undefined || name === id ? <span class="mono">{id}</span> : <span>{name}</span>;
};

/** The title of a referenced document. Cells with the same `ids` share one request; without a title it is the id. */
export const RefTitle = ({ ids, ...target }: Target & { readonly ids: readonly string[] }) => {
  const { projectId, collectionName, id } = target;
  const { data } = useQuery('get-collection', { projectId, collectionName }).value;
  const title = data?.schema ? titleField(data.schema as readonly Field[]) : undefined;
  if (!data || (data.schema && title === undefined)) return <span class="mono">{id}</span>;
  return <Titled {...target} ids={ids} title={title} />;
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
  const { data, problem } = useQuery('get-project-document', { ...place, id }).value;
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
