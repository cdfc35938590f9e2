import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/** To the sign-in, which leads back here. */
export const Redirect = () => {
  const { url, route } = useLocation();
  useEffect(() => route(url === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(url)}`, true), [url, route]);
  return null;
};
