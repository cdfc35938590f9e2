import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useQuery } from '../../api/query.ts';
import { useRepeat } from '../../api/repeat.ts';
import { request } from '../../api/request.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Select } from '../../ui/select.tsx';
import { TickGroup } from '../../ui/tick-group.tsx';
import { say } from '../../ui/toast.tsx';
import type { Address } from './filter-parameters.ts';
import { type Part, whereText } from './filter-parts.ts';

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

interface Props extends Place {
  readonly query: Address;
  readonly parts: readonly Part[];
  /** The columns of the list, and all known fields. */
  readonly shown: readonly string[];
  readonly fields: readonly string[];
  readonly onClose: () => void;
}

type Where = Readonly<Record<string, unknown>>;

const formats = ['csv', 'ndjson', 'json'] as const;
type Format = (typeof formats)[number];
const isFormat = (value: string): value is Format => formats.some((format) => format === value);

const lookMs = 1000;
const words = rows.export;

/** A field already contains its sub-fields, which the service does not accept beside it. */
const withoutInner = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}.`)));

/** A running export, until its file is downloaded. It continues if the dialog is closed. */
const Progress = ({
  id,
  total,
  onClose,
  ...place
}: Place & { readonly id: string; readonly total: number } & Pick<Props, 'onClose'>) => {
  const found = useQuery('get-export', { ...place, id });
  const { data, problem } = found.value;
  const { state, count = 0, url, failure } = data ?? {};
  const isRunning = state === undefined || state === 'queued' || state === 'running';
  useRepeat(isRunning, found.reload, lookMs);
  useEffect(() => {
    if (state !== 'done' || !url) return;
    location.assign(url);
    say(words.done(count));
    onClose();
  }, [state, url]);
  return (
    <>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {isRunning ? (
        <>
          <progress value={count} max={total} aria-label={words.progress} />
          <p role="status">{words.written(count)}</p>
          <div class="row">
            <Act
              onAct={async () => {
                await request('cancel-transfer', { projectId: place.projectId, id });
                say(words.cancelled);
                onClose();
              }}
            >
              {t.acts.cancel}
            </Act>
          </div>
        </>
      ) : (
        state !== 'done' && (
          <p class="note problem" role="alert">
            {words.failed} {failure}
          </p>
        )
      )}
    </>
  );
};

/** Exports the documents that the filter shows, with chosen fields. */
export const ExportForm = ({ query, parts, shown, fields, onClose, ...place }: Props) => {
  const format = useSignal<Format>('csv');
  const isAll = useSignal(false);
  const chosen = useSignal<readonly string[]>(shown);
  const started = useSignal<string | undefined>(undefined);
  const where = whereText(parts);
  const counted = useQuery('list-project-documents', { ...place, query: { where, count: true } }).value.data;
  const total = counted && 'count' in counted ? counted.count : undefined;
  const isUnread = parts.some((part) => !('filter' in part));
  const hindrance = query.search ? words.search : isUnread ? words.unread : undefined;
  const submit = async () => {
    const paths = withoutInner([...shown, ...fields].filter((path) => chosen.value.includes(path)));
    if (!isAll.value && paths.length === 0) throw new Error(words.chooseOne);
    const { data } = await request('start-export', {
      ...place,
      body: {
        format: format.value,
        ...(where !== undefined && { where: JSON.parse(where) as Where }),
        ...(query.sort !== undefined && { sort: query.sort }),
        ...(!isAll.value && { fields: [...new Set(paths)] }),
      },
    });
    started.value = data._id;
  };
  if (started.value !== undefined)
    return (
      <Dialog title={words.title} onClose={onClose}>
        <Progress {...place} id={started.value} total={total ?? 0} onClose={onClose} />
      </Dialog>
    );
  return (
    <Dialog title={words.title} onClose={onClose}>
      {hindrance && (
        <p class="note problem" role="alert">
          {hindrance}
        </p>
      )}
      {total !== undefined && !hindrance && (
        <p>{words.counted(total, where !== undefined, query.sort !== undefined)}</p>
      )}
      <Form
        act={words.title}
        cancel={t.acts.cancel}
        onCancel={onClose}
        onSubmit={submit}
        ready={hindrance === undefined}
      >
        {(wrong) => (
          <>
            <Select
              label={words.format}
              value={format.value}
              options={formats.map((one) => [one, words.formats[one]])}
              onInput={({ currentTarget: { value } }) => {
                if (isFormat(value)) format.value = value;
              }}
            />
            <TickGroup label={words.columns} wrong={wrong('fields')}>
              <label class="row">
                <input
                  type="checkbox"
                  checked={isAll.value}
                  onChange={({ currentTarget: { checked } }) => {
                    isAll.value = checked;
                  }}
                />
                {words.all}
              </label>
              {[...new Set([...shown, ...fields])].map((path) => (
                <label key={path} class="row">
                  <input
                    type="checkbox"
                    disabled={isAll.value}
                    checked={isAll.value || chosen.value.includes(path)}
                    onChange={({ currentTarget: { checked } }) => {
                      chosen.value = checked ? [...chosen.value, path] : chosen.value.filter((one) => one !== path);
                    }}
                  />
                  <span class="mono">{path}</span>
                </label>
              ))}
            </TickGroup>
          </>
        )}
      </Form>
    </Dialog>
  );
};
