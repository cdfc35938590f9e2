import { request } from '../../api/request.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { say } from '../../ui/toast.tsx';

/** The most paths of one request. */
const atOnce = 100;

/** What can be done with the selected files. */
export const TickedFiles = ({
  projectId,
  ticked,
  onTick,
}: {
  readonly projectId: string;
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (keys: ReadonlySet<string>) => void;
}) => {
  const remove = async () => {
    const all = [...ticked];
    for (let start = 0; start < all.length; start += atOnce)
      await request('delete-files', { projectId, body: { paths: all.slice(start, start + atOnce) } });
    onTick(new Set());
    say(files.deletedSome(all.length));
  };
  return (
    <div class="row" role="status">
      <strong>{t.table.ticked(ticked.size)}</strong>
      <ConfirmedAct
        kind="danger"
        act={files.deleteSome(ticked.size)}
        text={files.deleteSomeText}
        name={files.count(ticked.size)}
        onConfirm={remove}
      />
      <Button kind="plain" onClick={() => onTick(new Set())}>
        {t.table.tickNone}
      </Button>
    </div>
  );
};
