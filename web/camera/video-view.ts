import type { PictureSource } from '../link/page-link.ts';

/**
 * The element that shows a camera's H.264 video; of a stereo pair, its half of the picture. `shown` is called
 * for every picture on the screen.
 */
export function showVideo(
  source: PictureSource,
  camera: string,
  stereo: readonly string[],
  shown: (isVideo: boolean) => void,
): HTMLVideoElement {
  const video = document.createElement('video');
  video.muted = video.autoplay = video.playsInline = true;
  video.setAttribute('aria-label', `Camera ${camera}`);
  const eye = stereo.indexOf(camera);
  if (eye >= 0) video.classList.add(eye === 0 ? 'left-half' : 'right-half');
  source.onVideo(eye < 0 ? camera : stereo.join('+'), (stream) => {
    video.srcObject = stream;
    if (stream !== null) void video.play().catch(() => {});
  });
  const next = () => {
    shown(true);
    video.requestVideoFrameCallback(next);
  };
  video.requestVideoFrameCallback(next);
  return video;
}
