"""Dear ImGui on moderngl: draws into any framebuffer, so panels look the same in the window and in a video.

Follows Dear ImGui 1.92's texture protocol: the library says which textures it wants created, updated in part or
destroyed, and loads glyphs when they are first shown. `Gui` needs no window; `window.pyglet_input.Input` gives it the
events of one.
"""

import ctypes
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from typing import Any

import moderngl
import numpy as np
from imgui_bundle import imgui, implot, implot3d

VERTEX_SHADER = "imgui.vert"
FRAGMENT_SHADER = "imgui.frag"
FONT_SIZE = 16.0  # [pixels at scale 1]
LIGHT_HINTING = 1 << 3  # FreeType's: crisp lines of text without uneven gaps between letters
EMBOLDEN = 1 << 5         # FreeType's: strokes as heavy as those of the bold letters beside them
CJK_SIZE = 1.2            # sizes are heights of lines, and theirs are taller: so characters are as large as capitals
INDEX_BYTES = imgui.INDEX_SIZE
Size = tuple[int, int]
Pixels = tuple[int, int, int, int]  # x, y of the lower left corner, width, height


class TextureStore:
    """The textures Dear ImGui may name in a draw command, by OpenGL name."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.textures: dict[int, moderngl.Texture] = {}

    def add(self, texture: moderngl.Texture) -> imgui.ImTextureRef:
        """Make a texture of ours usable in `imgui.image`."""
        self.textures[texture.glo] = texture
        return imgui.ImTextureRef(texture.glo)

    def drop(self, texture: moderngl.Texture) -> None:
        self.textures.pop(texture.glo, None)

    def serve(self, wanted: imgui.ImTextureData) -> None:
        """Do what the library asks for one of its own textures."""
        if wanted.status == imgui.ImTextureStatus.want_create:
            texture = self.ctx.texture((wanted.width, wanted.height), 4, self._pixels(wanted).tobytes())
            texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            texture.repeat_x = texture.repeat_y = False
            wanted.set_tex_id(texture.glo)
            self.textures[texture.glo] = texture
            wanted.set_status(imgui.ImTextureStatus.ok)
        elif wanted.status == imgui.ImTextureStatus.want_updates:
            r = wanted.update_rect
            block = self._pixels(wanted)[r.y : r.y + r.h, r.x : r.x + r.w]
            self.textures[wanted.tex_id].write(block.tobytes(), viewport=(r.x, r.y, r.w, r.h))
            wanted.set_status(imgui.ImTextureStatus.ok)
        elif wanted.status == imgui.ImTextureStatus.want_destroy and wanted.unused_frames > 0:
            self.textures.pop(wanted.tex_id).release()
            wanted.set_tex_id(0)
            wanted.set_status(imgui.ImTextureStatus.destroyed)

    @staticmethod
    def _pixels(wanted: imgui.ImTextureData) -> np.ndarray:
        return np.asarray(wanted.get_pixels_array()).reshape(wanted.height, wanted.width, wanted.bytes_per_pixel)


class Gui:
    """One Dear ImGui context with its fonts and, where a moderngl context is given, its renderer.

    Without one (`ctx=None`) it runs the panels without drawing: the null renderer of the tests.
    """

    def __init__(self, ctx: moderngl.Context | None, size: Size, scale: float = 1.0) -> None:
        self.context = imgui.create_context()
        self.plots, self.spaces = implot.create_context(), implot3d.create_context()
        self.use()  # creating one leaves another, where there is one, the current one
        self.ctx = ctx
        self.io = imgui.get_io()
        self.io.set_ini_filename("")  # the app remembers its own settings
        self.io.backend_flags |= imgui.BackendFlags_.renderer_has_textures | imgui.BackendFlags_.has_mouse_cursors
        self.io.delta_time = 1.0 / 60.0
        self.regular, self.bold = load_fonts(self.io.fonts)
        self.resize(size, size)
        self.set_scale(scale)
        self.store: TextureStore | None = None
        if ctx is not None:
            limit = ctx.info["GL_MAX_TEXTURE_SIZE"]
            imgui.get_platform_io().renderer_texture_max_width = limit
            imgui.get_platform_io().renderer_texture_max_height = limit
            self.store = TextureStore(ctx)
            self._make_program(ctx)

    def _make_program(self, ctx: moderngl.Context) -> None:
        shaders = files("contactlab.shaders")
        self.program = ctx.program(
            vertex_shader=shaders.joinpath(VERTEX_SHADER).read_text(encoding="utf-8"),
            fragment_shader=shaders.joinpath(FRAGMENT_SHADER).read_text(encoding="utf-8"),
        )
        self.vertices = ctx.buffer(reserve=1 << 18, dynamic=True)
        self.indices = ctx.buffer(reserve=1 << 18, dynamic=True)
        self._make_array()

    def _make_array(self) -> None:
        assert self.ctx is not None
        self.array = self.ctx.vertex_array(
            self.program,
            [(self.vertices, "2f 2f 4f1", "in_position", "in_uv", "in_color")],
            index_buffer=self.indices,
            index_element_size=INDEX_BYTES,
        )

    def use(self) -> None:
        """Make this the context that the imgui functions act on (a video has its own)."""
        imgui.set_current_context(self.context)
        implot.set_current_context(self.plots)
        implot3d.set_current_context(self.spaces)

    def set_scale(self, scale: float) -> None:
        """Size of everything relative to 16-pixel text."""
        self.scale = scale
        style = imgui.get_style()
        style.font_size_base = FONT_SIZE
        style.font_scale_dpi = scale

    def resize(self, size: Size, framebuffer: Size) -> None:
        """`size` in the units of mouse positions, `framebuffer` in pixels."""
        width, height = max(size[0], 1), max(size[1], 1)
        self.io.display_size = imgui.ImVec2(width, height)
        self.io.display_framebuffer_scale = imgui.ImVec2(framebuffer[0] / width, framebuffer[1] / height)

    def new_frame(self, dt: float = 1.0 / 60.0) -> None:
        self.io.delta_time = max(dt, 1e-4)
        imgui.new_frame()

    def abandon(self) -> None:
        """Drop a frame that failed half-way; imgui closes what was left open."""
        if not self.context.within_frame_scope:
            return
        self.io.config_error_recovery_enable_assert = self.io.config_error_recovery_enable_tooltip = False
        imgui.end_frame()
        self.io.config_error_recovery_enable_assert = self.io.config_error_recovery_enable_tooltip = True

    def finish(
        self, target: moderngl.Framebuffer | None = None, last: str = "", between: Callable[[], None] | None = None
    ) -> None:
        """End the frame and draw it over what `target` holds.

        Windows whose names begin with `last` are drawn after `between` was called: it can take a picture without them.
        """
        imgui.render()
        if self.store is None:
            for wanted in imgui.get_platform_io().textures:
                if wanted.status != imgui.ImTextureStatus.destroyed:
                    wanted.set_status(imgui.ImTextureStatus.ok)
            return
        assert self.ctx is not None and target is not None
        for wanted in imgui.get_platform_io().textures:
            if wanted.status != imgui.ImTextureStatus.ok:
                self.store.serve(wanted)
        data = imgui.get_draw_data()
        held = [c for c in data.cmd_lists if last and (c._owner_name or "").startswith(last)]
        self._draw(data, [c for c in data.cmd_lists if c not in held], target)
        if between is not None:
            between()
        self._draw(data, held, target)

    def draw_again(self, target: moderngl.Framebuffer, within: Sequence[Pixels]) -> None:
        """Draw what the last frame showed once more, of it the rectangles `within`."""
        self.use()
        data = imgui.get_draw_data()
        for rect in within:
            self._draw(data, list(data.cmd_lists), target, rect)

    def _draw(self, data: imgui.ImDrawData, lists: Sequence[imgui.ImDrawList], target: Any, within: Pixels | None = None
              ) -> None:
        ctx: Any = self.ctx  # Any here and for the target: moderngl's stubs forbid what its documentation says
        scale = data.framebuffer_scale
        width, height = round(data.display_size.x * scale.x), round(data.display_size.y * scale.y)
        if width <= 0 or height <= 0:
            return
        x, y, wide, high = within or (0, 0, width, height)
        target.use()
        target.viewport = (0, 0, width, height)
        ctx.enable_only(moderngl.BLEND)
        ctx.blend_equation = moderngl.FUNC_ADD
        # alpha accumulates, so that frames read back from a transparent target stay right
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        self.program["display"] = (data.display_size.x, data.display_size.y)
        for commands in lists:
            uploaded = False
            for command in commands.cmd_buffer:
                x0, y0, x1, y1 = command.clip_rect
                left, top = max(int(x0 * scale.x), x), max(int(y0 * scale.y), height - y - high)
                right, bottom = min(int(x1 * scale.x), x + wide), min(int(y1 * scale.y), height - y)
                if right <= left or bottom <= top or command.elem_count == 0:
                    continue
                if not uploaded:
                    self._upload(commands)
                    uploaded = True
                target.scissor = (left, height - bottom, right - left, bottom - top)
                assert self.store is not None
                self.store.textures[command.get_tex_id()].use(0)
                self.array.render(moderngl.TRIANGLES, vertices=command.elem_count, first=command.idx_offset)
        target.scissor = None

    def _upload(self, commands: imgui.ImDrawList) -> None:
        """Copy one draw list's vertices and indices into the buffers, growing them where they are too small."""
        sizes = commands.vtx_buffer.size() * imgui.VERTEX_SIZE, commands.idx_buffer.size() * INDEX_BYTES
        if sizes[0] > self.vertices.size or sizes[1] > self.indices.size:
            assert self.ctx is not None
            self.array.release()
            for buffer, size in ((self.vertices, sizes[0]), (self.indices, sizes[1])):
                buffer.orphan(max(buffer.size, 2 * size))
            self._make_array()
        for buffer, source, size in (
            (self.vertices, commands.vtx_buffer, sizes[0]), (self.indices, commands.idx_buffer, sizes[1])
        ):
            buffer.orphan()
            if size:
                buffer.write((ctypes.c_char * size).from_address(source.data_address()))

    def release(self) -> None:
        self.use()
        if self.store is not None:
            for wanted in imgui.get_platform_io().textures:
                if wanted.tex_id in self.store.textures:
                    self.store.textures.pop(wanted.tex_id).release()
                    wanted.set_tex_id(0)
                    wanted.set_status(imgui.ImTextureStatus.destroyed)
            for thing in (self.array, self.vertices, self.indices, self.program):
                thing.release()
        self.io.backend_flags &= ~imgui.BackendFlags_.renderer_has_textures
        implot.destroy_context(self.plots)
        implot3d.destroy_context(self.spaces)
        imgui.destroy_context(self.context)


def _config() -> imgui.ImFontConfig:
    config = imgui.ImFontConfig()
    config.font_loader_flags = LIGHT_HINTING
    return config


def load_fonts(atlas: imgui.ImFontAtlas) -> tuple[Any, Any]:
    """The regular and the bold face, each with symbols, icons and the characters of East Asia merged in."""
    folder = files("contactlab.assets").joinpath("fonts")
    faces = []
    for name in ("Roboto-Regular.ttf", "Roboto-Bold.ttf"):
        with as_file(folder.joinpath(name)) as path:
            face = atlas.add_font_from_file_ttf(str(path), FONT_SIZE, _config())
        for extra, size, lower in (("Symbols.ttf", 0.9, 0.0), ("Icons.otf", 0.9, 1.0), ("CJK.otf", CJK_SIZE, 0.0)):
            merge = _config()
            merge.merge_mode = True
            if extra == "CJK.otf" and name == "Roboto-Bold.ttf":
                merge.font_loader_flags |= EMBOLDEN
            merge.glyph_offset = imgui.ImVec2(0.0, lower)
            with as_file(folder.joinpath(extra)) as path:
                atlas.add_font_from_file_ttf(str(path), FONT_SIZE * size, merge)
        faces.append(face)
    return faces[0], faces[1]
