/**
 * Large files of Emscripten's file system whose bytes stay in the browser's storage. Python's reads
 * fetch parts of them. A write, or another size, first brings all bytes into memory.
 */

/** Smaller files are in memory. */
export const LARGE = 1 << 24;

const EIO = 29;

/**
 * Make the file at `path` have the bytes of a `File`, which is stored as `name`. Does nothing while
 * Python has it open.
 */
export function readFromStorage(fs, path, file, name) {
  const { node } = fs.lookupPath(path);
  if (fs.streams.some((stream) => stream && stream.node === node)) return;
  const { stream_ops: streamOps, node_ops: nodeOps } = node.stored?.inMemory ?? node;

  const bytesOf = (begin, end) => {
    try {
      return new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(begin, end)));
    } catch (error) {
      // Another tab has replaced or deleted the file.
      console.info(`${path} cannot be read: ${error}`);
      throw new fs.ErrnoError(EIO);
    }
  };
  const load = () => {
    if (!node.stored) return;
    node.contents = bytesOf(0, file.size);
    Object.assign(node, node.stored.inMemory);
    node.stored = null;
  };

  node.stored = { name, load, inMemory: { stream_ops: streamOps, node_ops: nodeOps } };
  node.contents = new Uint8Array(0);
  node.usedBytes = file.size;
  node.stream_ops = {
    ...streamOps,
    read(stream, buffer, offset, length, position) {
      if (!node.stored) return streamOps.read(stream, buffer, offset, length, position);
      const end = Math.min(position + length, file.size);
      if (position >= end) return 0;
      buffer.set(bytesOf(position, end), offset);
      return end - position;
    },
    write(...given) {
      load();
      return streamOps.write(...given);
    },
    mmap(...given) {
      load();
      return streamOps.mmap(...given);
    },
  };
  node.node_ops = {
    ...nodeOps,
    setattr(own, changes) {
      if (changes.size !== undefined) load();
      nodeOps.setattr(own, changes);
    },
  };
}

/** Bring the bytes of a file into memory, if storage has them under one of these names. */
export function loadIfStoredAs(fs, path, names) {
  const { node } = fs.lookupPath(path);
  if (node.stored && names.has(node.stored.name)) node.stored.load();
}
