import type { Item } from '../../api/rows.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { toClipboard } from '../../ui/clipboard.ts';
import { Copy } from '../../ui/copy.tsx';
import { Menu } from '../../ui/menu.tsx';
import { SafeLink } from '../../ui/safe-link.tsx';
import { say } from '../../ui/toast.tsx';
import { inSize, isPicture, signLinks, useAddresses } from './links.ts';

/** How long copied links are valid, in seconds. */
const lives = [3600, 86_400, 604_800] as const;

/** Widths of images that are often used, in pixels. */
const widths = [128, 256, 320, 640, 1280] as const;

/** The address of a public file, or signed links of a private one. */
export const FileLinks = ({
  projectId,
  file,
  sizes,
}: {
  readonly projectId: string;
  readonly file: Item<'list-files'>;
  /** Whether images are served in other sizes. */
  readonly sizes: boolean;
}) => {
  const address = useAddresses(projectId, [file])(file);
  if (address === undefined) return null;
  const copy = async (expiresIn: number) => {
    const link = (await signLinks(projectId, { paths: [file.path], expiresIn })).get(file.path) ?? '';
    if (await toClipboard(link)) say(files.linkCopied);
  };
  return (
    <>
      <SafeLink href={address}>{t.acts.open}</SafeLink>
      {file.visibility === 'public' ? (
        <>
          <Copy text={address} label={files.copyAddress} />
          {sizes && isPicture(file) && (
            <Menu title={files.copySize} label={<>{files.copySize} ▾</>}>
              {widths.map((width) => (
                <Act
                  key={width}
                  kind="plain"
                  onAct={async () => {
                    if (await toClipboard(inSize(address, { width }))) say(files.linkCopied);
                  }}
                >
                  {files.width(width)}
                </Act>
              ))}
            </Menu>
          )}
        </>
      ) : (
        <Menu title={files.copyLink} label={<>{files.copyLink} ▾</>}>
          {lives.map((seconds) => (
            <Act key={seconds} kind="plain" onAct={() => copy(seconds)}>
              {files.linkLives[seconds]}
            </Act>
          ))}
        </Menu>
      )}
    </>
  );
};
